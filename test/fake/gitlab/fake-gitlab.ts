import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initBare } from '../git-files/bare-template.ts';
import { writeRefFiles } from '../git-files/ref-files.ts';
import type { Answer } from '../hosted/answer.ts';
import { type Api, violationsOf } from '../hosted/check-api.ts';
import { Deliveries } from '../hosted/deliveries.ts';
import { ApiFaults } from '../hosted/faults.ts';
import { type Asked, type Routed, startRestServer } from '../hosted/rest-server.ts';
import { type Body, ok, Refused, type Routes } from './call.ts';
import { ciRoutes } from './ci-routes.ts';
import { openSession, PRE_RECEIVE, refuseGit, serveGit } from './git-backend.ts';
import {
  findProject,
  fullPathOf,
  inTurn,
  type Level,
  type Project,
  type Token,
  type User,
  type World,
} from './model.ts';
import { projectRoutes } from './project-routes.ts';
import { catchUp } from './pushes.ts';
import { requestRoutes } from './request-routes.ts';
import { announceTo } from './webhooks.ts';

/** A GitLab in this process: its API, git over HTTP and ssh, and webhooks, with real bare repositories behind it. */
export interface FakeGitlab {
  readonly world: World;
  readonly url: string;
  readonly faults: ApiFaults;
  readonly webhooks: Deliveries;
  /** For GIT_SSH_COMMAND. */
  readonly ssh: string;
  addUser(username: string, more?: Partial<User>): User;
  addToken(user: User, more?: Partial<Pick<Token, 'scopes' | 'expiresAt'>>): string;
  addProject(fullPath: string, members?: Readonly<Record<string, Level>>): Project;
  fork(project: Project, owner: User): Project;
  /** Renames or transfers it. */
  move(project: Project, fullPath: string): void;
  /** Treats refs that were written on disk as pushed by this account. */
  catchUp(project: Project, user: User): Promise<void>;
  close(): Promise<void>;
}

/** GitLab's own schemas, as far as Sluice needs them. */
const API = JSON.parse(readFileSync(new URL('../../fixtures/gitlab/api.json', import.meta.url), 'utf8')) as Api;
const SSH = new URL('ssh.mjs', import.meta.url).pathname;

export async function createFakeGitlab(): Promise<FakeGitlab> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fake-gitlab-'));
  await mkdir(join(folder, 'hooks'));
  await writeFile(join(folder, 'hooks', 'pre-receive'), PRE_RECEIVE, { mode: 0o755 });
  const world = createWorld(folder, (happening) => announceTo(webhooks, world, happening));
  const webhooks = new Deliveries(world.violations);
  const faults = new ApiFaults();
  const server = await serve(world, faults);
  const addUser: FakeGitlab['addUser'] = (username, more = {}) => {
    const known = world.users.get(username.toLowerCase());
    const user: User = known ?? {
      id: world.nextId(),
      username,
      name: username,
      isBot: false,
      state: 'active',
      ...more,
    };
    world.users.set(username.toLowerCase(), user);
    return user;
  };
  return {
    world,
    url: world.url,
    faults,
    webhooks,
    ssh: `FAKE_GITLAB=${world.url} ${process.execPath} ${SSH}`,
    addUser,
    addToken: (user, { scopes = ['api'], expiresAt } = {}) => {
      const token = `glpat-${randomBytes(15).toString('hex')}`;
      world.tokens.set(token, { id: world.nextId(), user, scopes, expiresAt });
      return token;
    },
    addProject: (fullPath, members = {}) => {
      const project = createProject(world, fullPath);
      for (const [username, level] of Object.entries(members)) project.members.set(addUser(username).id, level);
      return project;
    },
    fork(project, owner) {
      const fork = createProject(world, `${owner.username}/${project.path}`, project);
      fork.members.set(owner.id, 50);
      return fork;
    },
    move(project, fullPath) {
      project.formerPaths.add(fullPathOf(project).toLowerCase());
      Object.assign(project, splitPath(fullPath));
    },
    catchUp: (project, user) => inTurn(project, () => catchUp(world, project, user)),
    close: async () => {
      await webhooks.settle();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      if (world.violations.length > 0) throw new Error([...new Set(world.violations)].join('\n'));
    },
  };
}

function createWorld(folder: string, announce: World['announce']): World {
  let lastId = 0;
  let last = 0;
  const now = () => {
    last = Math.max(Date.now(), last + 1);
    return last;
  };
  const lists = { users: new Map(), tokens: new Map(), projects: new Map(), requests: [], violations: [] };
  return { url: '', folder, ...lists, limit: undefined, now, nextId: () => ++lastId, announce };
}

function splitPath(fullPath: string): Pick<Project, 'namespace' | 'path'> {
  const at = fullPath.lastIndexOf('/');
  return { namespace: fullPath.slice(0, at), path: fullPath.slice(at + 1) };
}

const SETTINGS = {
  merge_method: 'merge',
  squash_option: 'default_off',
  only_allow_merge_if_pipeline_succeeds: false,
  only_allow_merge_if_all_discussions_are_resolved: false,
  remove_source_branch_after_merge: false,
  merge_requests_access_level: 'enabled',
  builds_access_level: 'enabled',
};

/** A fork shares the objects of its parent, so that no git is needed. */
function createProject(world: World, fullPath: string, parent?: Project): Project {
  const id = world.nextId();
  const project: Project = {
    ...{ id, ...splitPath(fullPath), formerPaths: new Set(), gitDir: join(world.folder, `${id}.git`), parent },
    ...{ isPrivate: false, isArchived: false, defaultBranch: 'main', settings: { ...SETTINGS }, jobs: undefined },
    ...{ members: new Map(), labels: new Set(), requests: new Map(), pipelines: [], protections: new Map() },
    ...{ deployKeys: new Map(), hooks: new Map(), refs: new Map(), turn: Promise.resolve() },
  };
  initBare(project.gitDir, ['--initial-branch=main']);
  world.projects.set(id, project);
  if (parent === undefined) return project;
  initAlternates(project, parent);
  return project;
}

function initAlternates(project: Project, parent: Project): void {
  const branches = [...parent.refs].filter(([ref]) => ref.startsWith('refs/heads/'));
  mkdirSync(join(project.gitDir, 'objects', 'info'), { recursive: true });
  writeFileSync(join(project.gitDir, 'objects', 'info', 'alternates'), `${join(parent.gitDir, 'objects')}\n`);
  writeRefFiles(
    project.gitDir,
    branches.map(([ref, after]) => ({ ref, after })),
  );
  project.refs = new Map(branches);
}

async function serve(world: World, faults: ApiFaults): Promise<Server> {
  const { requests, violations } = world;
  const routes: Routes = { ...projectRoutes, ...requestRoutes, ...ciRoutes, ...SSH_ROUTES };
  const refusals = { unauthorized: '401 Unauthorized', hidden: '404 Project Not Found', forbidden: '403 Forbidden' };
  const { server, url } = await startRestServer<Routes[string]>({
    ...{ prefix: /^\/api\/v4(?=\/)/, routes, faults, requests, violations, refusals },
    whoIs: (headers) => identify(world, headers)?.user.username,
    answer: (asked) => answer(world, asked),
    async serveGit(asked, place) {
      const token = identify(world, asked.headers);
      const isGood = token !== undefined && !isExpired(world, token);
      return isGood ? serveGit(world, asked, place, token.user) : refuseGit(401, 'HTTP Basic: Access denied');
    },
  });
  world.url = url;
  return server;
}

const SSH_ROUTES: Routes = {
  'POST /fake/ssh': ({ world, body }) => ok(openSession(world, String(body['key']), String(body['command']))),
  'POST /fake/ssh/end': async ({ world, body }) => {
    const project = findProject(world, String(body['project']));
    const user = world.users.get(String(body['user']).toLowerCase());
    if (project !== undefined && user !== undefined) await inTurn(project, () => catchUp(world, project, user));
    return ok({});
  },
};

function identify(world: World, headers: Asked['headers']): Token | undefined {
  const [kind = '', value = ''] = (headers['authorization'] ?? '').split(' ');
  const basic = kind.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString().split(':')[1] : undefined;
  return world.tokens.get(headers['private-token'] ?? basic ?? value);
}

const isExpired = (world: World, { expiresAt }: Token) => expiresAt !== undefined && expiresAt <= world.now();

async function answer(world: World, asked: Routed<Routes[string]>): Promise<Answer> {
  const { method, params, query, url, route, body } = asked;
  const isOurs = asked.name.includes('/fake/');
  const token = identify(world, asked.headers);
  if (!isOurs && (token === undefined || isExpired(world, token))) return unauthorized(token);
  if (!isOurs && isLimited(world)) return { status: 429, headers: limitOf(world), body: { message: 'Retry later' } };
  const given: Body = body.length === 0 ? {} : JSON.parse(body.toString());
  const who = { caller: token?.user, tokenId: token?.id };
  const said = await orRefusal(() => route({ world, params, query, body: given, ...who, url, method }));
  if (!isOurs) world.violations.push(...violationsOf(API, asked.name, { query, body: given }, said));
  return { ...said, headers: { ...said.headers, ...limitOf(world) } };
}

function unauthorized(token: Token | undefined): Answer {
  if (token === undefined) return { status: 401, body: { message: '401 Unauthorized' } };
  const error_description = 'Token is expired. You can either do re-authorization or token refresh.';
  return { status: 401, body: { error: 'invalid_token', error_description } };
}

function isLimited(world: World): boolean {
  const { limit } = world;
  if (limit === undefined || limit.resetAt <= world.now()) return false;
  limit.remaining -= 1;
  return limit.remaining < 0;
}

function limitOf({ limit }: World): Record<string, string> {
  if (limit === undefined) return {};
  const seconds = Math.max(0, Math.ceil((limit.resetAt - Date.now()) / 1000));
  return {
    'ratelimit-limit': '600',
    'ratelimit-remaining': String(Math.max(0, limit.remaining)),
    'ratelimit-reset': String(Math.ceil(limit.resetAt / 1000)),
    ...(limit.remaining < 0 && { 'retry-after': String(seconds) }),
  };
}

async function orRefusal(act: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}
