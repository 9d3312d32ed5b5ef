import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { initBare } from '../git-files/bare-template.ts';
import { writeRefFiles } from '../git-files/ref-files.ts';
import {
  type Body,
  type Call,
  type CallIn,
  inRepository,
  notFound,
  paged,
  Refused,
  type Routes,
  textOf,
  textsOf,
} from './call.ts';
import {
  findRepository,
  fullNameOf,
  type Hook,
  hasMode,
  type Mode,
  modeOf,
  type Protection,
  type Repository,
  type User,
  type World,
} from './model.ts';
import { closePullRequest } from './pushes.ts';
import { hookView, protectionView, repositoryView, userView } from './views.ts';

/** Accounts, repositories, branches, their protection, collaborators and hooks. */
export const repositoryRoutes: Routes = {
  'GET /version': () => ({ status: 200, body: { version: '1.26.0' } }),
  'GET /settings/api': () => ({ status: 200, body: { max_response_items: 50, default_paging_num: 30 } }),
  'GET /user': (call) => ({ status: 200, body: userView(call.world, signedIn(call)) }),
  'POST /admin/users': (call) => {
    if (!signedIn(call).isAdmin) throw new Refused(403, 'user should be the site admin', call.world);
    const login = textOf(call.body, 'username');
    if (call.world.users.has(login.toLowerCase()))
      throw new Refused(422, `user already exists [name: ${login}]`, call.world);
    return { status: 201, body: userView(call.world, createUser(call.world, login, call.body)) };
  },
  'POST /users/{login}/tokens': (call) => {
    const user = getUser(call, call.params['login']);
    if (signedIn(call) !== user && !signedIn(call).isAdmin) throw new Refused(403, 'Forbidden', call.world);
    const sha1 = createToken(call.world, user, textsOf(call.body, 'scopes'), textOf(call.body, 'name'));
    return {
      status: 201,
      body: { id: call.world.nextId(), name: textOf(call.body, 'name'), sha1, scopes: textsOf(call.body, 'scopes') },
    };
  },
  'POST /orgs': (call) => {
    const org = createUser(call.world, textOf(call.body, 'username'));
    return { status: 201, body: userView(call.world, org) };
  },
  'POST /user/repos': (call) => create(call, signedIn(call)),
  'POST /orgs/{login}/repos': (call) => create(call, getUser(call, call.params['login'])),
  'GET /repositories/{id}': (call) => {
    const repository = call.world.repositories.get(Number(call.params['id']));
    if (repository === undefined || !hasMode(repository, call.caller, 'read')) throw notFound(call);
    return { status: 200, body: repositoryView(call.world, repository, call.caller) };
  },
  'GET /repos/{owner}/{repo}': inRepository('read', (call) => ({ status: 200, body: show(call) })),
  'PATCH /repos/{owner}/{repo}': inRepository('admin', async (call) => {
    edit(call);
    await writeFile(join(call.repository.gitDir, 'HEAD'), `ref: refs/heads/${call.repository.defaultBranch}\n`);
    return { status: 200, body: show(call) };
  }),
  'DELETE /repos/{owner}/{repo}': inRepository('owner', async (call) => {
    call.world.repositories.delete(call.repository.id);
    for (const { pulls } of call.world.repositories.values())
      for (const pr of pulls.values()) {
        if (pr.headRepository !== call.repository) continue;
        pr.headRepository = undefined;
        if (!pr.isClosed) closePullRequest(call.world, pr, call.user);
      }
    await rm(call.repository.gitDir, { recursive: true, force: true });
    return { status: 204 };
  }),
  'POST /repos/{owner}/{repo}/forks': inRepository('read', async (call) => {
    const name = textOf(call.body, 'name') || call.repository.name;
    const fork = createRepository(call.world, call.user, name, {}, call.repository);
    // It shares the objects, so that no git is needed.
    await writeFile(join(fork.gitDir, 'objects', 'info', 'alternates'), `${join(call.repository.gitDir, 'objects')}\n`);
    const branches = [...call.repository.refs].filter(([ref]) => ref.startsWith('refs/heads/'));
    writeRefFiles(
      fork.gitDir,
      branches.map(([ref, after]) => ({ ref, after })),
    );
    fork.refs = new Map(branches);
    return { status: 202, body: repositoryView(call.world, fork, call.user) };
  }),
  'GET /repos/{owner}/{repo}/branch_protections': inRepository('admin', (call) => ({
    status: 200,
    body: [...call.repository.protections.values()].map(protectionView),
  })),
  'POST /repos/{owner}/{repo}/branch_protections': inRepository('admin', (call) => {
    const ruleName = textOf(call.body, 'rule_name') || textOf(call.body, 'branch_name');
    if (call.repository.protections.has(ruleName))
      throw new Refused(403, 'Branch protection already exist', call.world);
    const at = call.world.now();
    const protection: Protection = { ruleName, createdAt: at, updatedAt: at, rule: { ...UNPROTECTED } };
    Object.assign(protection.rule, ruleIn(call.body), { priority: call.repository.protections.size + 1 });
    call.repository.protections.set(ruleName, protection);
    return { status: 201, body: protectionView(protection) };
  }),
  'GET /repos/{owner}/{repo}/branch_protections/{*name}': inRepository('admin', (call) => ({
    status: 200,
    body: protectionView(getProtection(call)),
  })),
  'PATCH /repos/{owner}/{repo}/branch_protections/{*name}': inRepository('admin', (call) => {
    const protection = getProtection(call);
    Object.assign(protection.rule, ruleIn(call.body));
    protection.updatedAt = call.world.now();
    return { status: 200, body: protectionView(protection) };
  }),
  'DELETE /repos/{owner}/{repo}/branch_protections/{*name}': inRepository('admin', (call) => {
    call.repository.protections.delete(getProtection(call).ruleName);
    return { status: 204 };
  }),
  'PUT /repos/{owner}/{repo}/collaborators/{login}': inRepository('admin', (call) => {
    const { login } = getUser(call, call.params['login']);
    const mode = textOf(call.body, 'permission') || 'write';
    call.repository.collaborators.set(login.toLowerCase(), mode as Mode);
    return { status: 204 };
  }),
  'GET /repos/{owner}/{repo}/collaborators/{login}/permission': inRepository('read', (call) => {
    const isOwn = call.user?.login.toLowerCase() === call.params['login']?.toLowerCase();
    if (!isOwn && !hasMode(call.repository, call.user, 'admin')) throw new Refused(403, MAY_NOT_ASK, call.world);
    const user = getUser(call, call.params['login']);
    const permission = modeOf(call.repository, user);
    return { status: 200, body: { permission, role_name: permission, user: userView(call.world, user) } };
  }),
  'GET /repos/{owner}/{repo}/hooks': inRepository('admin', (call) =>
    paged(call, [...call.repository.hooks.values()], hookView),
  ),
  'POST /repos/{owner}/{repo}/hooks': inRepository('admin', (call) => {
    const { world, body } = call;
    const [config, at] = [body['config'] as Record<string, string>, world.now()];
    for (const name of ['url', 'content_type'])
      if (config?.[name] === undefined) throw new Refused(422, `Missing config option: ${name}`, world);
    const common = {
      type: textOf(body, 'type'),
      events: expand(textsOf(body, 'events')),
      isActive: body['active'] === true,
    };
    const hook: Hook = { id: world.nextId(), ...common, config, createdAt: at, updatedAt: at };
    call.repository.hooks.set(hook.id, hook);
    return { status: 201, body: hookView(hook) };
  }),
  'PATCH /repos/{owner}/{repo}/hooks/{id}': inRepository('admin', (call) => {
    const hook = call.repository.hooks.get(Number(call.params['id']));
    if (hook === undefined) throw notFound(call);
    hook.config = { ...hook.config, ...(call.body['config'] as Record<string, string> | undefined) };
    if (call.body['events'] !== undefined) hook.events = expand(textsOf(call.body, 'events'));
    if (typeof call.body['active'] === 'boolean') hook.isActive = call.body['active'];
    hook.updatedAt = call.world.now();
    return { status: 200, body: hookView(hook) };
  }),
};

const MAY_NOT_ASK =
  'Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own';

function signedIn({ caller, world }: Call): User {
  if (caller === undefined) throw new Refused(401, 'token is required', world);
  return caller;
}

function getUser(call: Call, login = ''): User {
  const user = call.world.users.get(login.toLowerCase());
  if (user === undefined) throw new Refused(404, `user does not exist [uid: 0, name: ${login}]`, call.world);
  return user;
}

function show({ world, repository, caller }: CallIn) {
  return repositoryView(world, repository, caller);
}

export function createUser(
  world: World,
  login: string,
  { email = `${login}@example.test`, password = '' }: Body = {},
  kind: Partial<Pick<User, 'isAdmin'>> = {},
): User {
  const common = { id: world.nextId(), login, email: String(email), password: String(password) };
  const user: User = { isAdmin: false, ...common, ...kind };
  world.users.set(login.toLowerCase(), user);
  return user;
}

export function createToken(world: World, user: User, scopes: readonly string[], name = 'token'): string {
  const token = randomBytes(20).toString('hex');
  world.tokens.set(token, { id: world.nextId(), name, user, scopes });
  return token;
}

function create(call: Call, owner: User) {
  const name = textOf(call.body, 'name');
  if (findRepository(call.world, `${owner.login}/${name}`) !== undefined)
    throw new Refused(409, 'The repository with the same name already exists.', call.world);
  const repository = createRepository(call.world, owner, name, call.body);
  return { status: 201, body: repositoryView(call.world, repository, call.caller) };
}

const SETTINGS = {
  has_pull_requests: true,
  allow_merge_commits: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash_merge: true,
  allow_fast_forward_only_merge: true,
  allow_manual_merge: false,
  autodetect_manual_merge: false,
  default_delete_branch_after_merge: false,
};

function createRepository(world: World, owner: User, name: string, body: Body, parent?: Repository): Repository {
  const id = world.nextId();
  const repository: Repository = {
    id,
    owner,
    name,
    parent,
    formerNames: new Set(),
    gitDir: join(world.folder, `${id}.git`),
    isPrivate: body['private'] === true,
    isArchived: false,
    defaultBranch: textOf(body, 'default_branch') || 'main',
    settings: { ...SETTINGS },
    collaborators: new Map(),
    labels: new Map(),
    pulls: new Map(),
    protections: new Map(),
    statuses: [],
    hooks: new Map(),
    refs: new Map(),
    turn: Promise.resolve(),
  };
  initBare(repository.gitDir, ['--initial-branch=main']);
  world.repositories.set(id, repository);
  return repository;
}

function edit({ repository, body }: CallIn): void {
  for (const name of Object.keys(SETTINGS)) {
    const value = body[name];
    if (typeof value === 'boolean') repository.settings[name] = value;
  }
  if (typeof body['private'] === 'boolean') repository.isPrivate = body['private'];
  if (typeof body['archived'] === 'boolean') repository.isArchived = body['archived'];
  repository.defaultBranch = textOf(body, 'default_branch') || repository.defaultBranch;
  const name = textOf(body, 'name');
  if (name === '' || name === repository.name) return;
  repository.formerNames.add(fullNameOf(repository).toLowerCase());
  repository.name = name;
}

function getProtection(call: CallIn): Protection {
  const protection = call.repository.protections.get(call.params['name'] ?? '');
  if (protection === undefined) throw notFound(call);
  return protection;
}

const LISTS = ['push_whitelist', 'force_push_allowlist', 'merge_whitelist'];
const SWITCHES =
  'enable_push enable_push_whitelist push_whitelist_deploy_keys enable_force_push enable_force_push_allowlist ' +
  'force_push_allowlist_deploy_keys enable_merge_whitelist enable_status_check enable_approvals_whitelist ' +
  'block_on_rejected_reviews block_on_official_review_requests block_on_outdated_branch dismiss_stale_approvals ' +
  'ignore_stale_approvals require_signed_commits block_admin_merge_override';

export const UNPROTECTED: Protection['rule'] = {
  priority: 0,
  ...Object.fromEntries(SWITCHES.split(' ').map((name) => [name, false])),
  ...Object.fromEntries(LISTS.flatMap((name) => [`${name}_usernames`, `${name}_teams`]).map((name) => [name, []])),
  status_check_contexts: [],
  required_approvals: 0,
  approvals_whitelist_username: [],
  approvals_whitelist_teams: [],
  protected_file_patterns: '',
  unprotected_file_patterns: '',
};

function ruleIn(body: Body): Protection['rule'] {
  const known = Object.entries(body).filter(([name]) => name in UNPROTECTED);
  return Object.fromEntries(known) as Protection['rule'];
}

const IN_GROUP = ['_assign', '_label', '_milestone', '_comment', '_review', '_review_request', '_sync'];

/** `pull_request` subscribes to everything about pull requests, `pull_request_only` to opened, edited and closed ones. */
function expand(events: readonly string[]): readonly string[] {
  return [
    ...new Set(
      events.flatMap((event) => {
        if (event === 'pull_request') return [event, ...IN_GROUP.map((end) => `${event}${end}`)];
        return event === 'pull_request_only' ? ['pull_request'] : [event];
      }),
    ),
  ];
}
