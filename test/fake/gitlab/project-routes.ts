import { gitLines, runGit } from '../hosted/git.ts';
import { type CallIn, created, inProject, notFound, ok, paged, Refused, type Routes, textOf } from './call.ts';
import { branchHead, type DeployKey, type Hook, inTurn, type Level, type Protection, protectionOf } from './model.ts';
import { catchUp } from './pushes.ts';
import { branchView, deployKeyView, hookView, projectView, protectionView, timeOf, userView } from './views.ts';

/** Accounts, projects, branches, their protection, members, hooks and deploy keys. */
export const projectRoutes: Routes = {
  'GET /metadata': () => ok({ version: '19.2.0', revision: '0123456789a', enterprise: false }),
  'GET /user': ({ world, caller }) => {
    if (caller === undefined) throw new Refused(401, '401 Unauthorized');
    return ok({ ...userView(world, caller), bot: caller.isBot });
  },
  'GET /personal_access_tokens/self': ({ world, tokenId }) => {
    const token = world.tokens.values().find(({ id }) => id === tokenId);
    if (token === undefined) throw new Refused(401, '401 Unauthorized');
    const expires_at = token.expiresAt === undefined ? null : timeOf(token.expiresAt).slice(0, 10);
    return ok({ id: token.id, name: 'sluice', revoked: false, active: true, scopes: token.scopes, expires_at });
  },
  'GET /users': ({ world, query }) => {
    const user = world.users.get((query.get('username') ?? '').toLowerCase());
    return ok(user === undefined ? [] : [userView(world, user)]);
  },
  'GET /projects/{id}': inProject('guest', (call) => ok(projectView(call.world, call.project, call.user))),
  'GET /projects/{id}/members/all/{user}': inProject('guest', ({ world, project, params }) => {
    const user = world.users.values().find(({ id }) => id === Number(params['user']));
    const level = user && project.members.get(user.id);
    if (user === undefined || level === undefined) throw notFound('Member');
    return ok({ ...userView(world, user), access_level: level, expires_at: null });
  }),
  'GET /projects/{id}/repository/branches/{branch}': inProject('guest', (call) => {
    if (branchHead(call.project, call.params['branch'] ?? '') === undefined) throw notFound('Branch');
    return ok(branchView(call.world, call.project, call.params['branch'] ?? ''));
  }),
  'DELETE /projects/{id}/repository/branches/{branch}': inProject('developer', (call) =>
    inTurn(call.project, async () => {
      const { project, params, world, user } = call;
      const branch = params['branch'] ?? '';
      if (branchHead(project, branch) === undefined) throw notFound('Branch');
      if (branch === project.defaultBranch || protectionOf(project, branch) !== undefined)
        throw new Refused(405, 'Protected branch cannot be deleted');
      await runGit(project.gitDir, ['update-ref', '-d', `refs/heads/${branch}`]);
      await catchUp(world, project, user);
      return { status: 204 };
    }),
  ),
  'GET /projects/{id}/repository/tree': inProject('guest', async (call) => {
    const lines = await gitLines(call.project.gitDir, ['ls-tree', '-z', call.query.get('ref') ?? ''], {
      expected: [0, 128],
    });
    if (lines.length === 0) throw notFound('Tree');
    const entries = (lines[0] ?? '').split('\0').flatMap((line) => {
      const [, mode = '', type = '', id = '', name = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
      return line === '' ? [] : [{ id, name, type, path: name, mode }];
    });
    return paged(call, entries, (entry) => entry);
  }),
  'GET /projects/{id}/repository/files/{file}': inProject('reporter', async ({ project, params, query }) => {
    const { file = '' } = params;
    const ref = query.get('ref') ?? project.defaultBranch;
    const { code, stdout } = await runGit(project.gitDir, ['cat-file', 'blob', `${ref}:${file}`], {
      expected: [0, 128],
    });
    if (code !== 0) throw notFound('File');
    return ok({ file_name: file, file_path: file, encoding: 'base64', content: stdout.toString('base64'), ref });
  }),
  'GET /projects/{id}/protected_branches': inProject('maintainer', (call) =>
    paged(call, [...call.project.protections.values()], protectionView),
  ),
  'PATCH /projects/{id}/protected_branches/{name}': inProject('maintainer', ({ project, params, body }) => {
    const protection = project.protections.get(params['name'] ?? '');
    if (protection === undefined) throw notFound('Protected Branch');
    protection.push.push(...pushersIn(body['allowed_to_push']));
    return ok(protectionView(protection));
  }),
  'POST /projects/{id}/protected_branches': inProject('maintainer', ({ world, project, body }) => {
    const name = textOf(body, 'name');
    if (project.protections.has(name)) throw new Refused(409, `Protected branch '${name}' already exists`);
    const levels = body['push_access_level'] === undefined ? [] : [Number(body['push_access_level']) as Level];
    const push = [...levels, ...pushersIn(body['allowed_to_push'])];
    const protection: Protection = { id: world.nextId(), name, push, merge: [40] };
    project.protections.set(name, protection);
    return created(protectionView(protection));
  }),
  'GET /projects/{id}/hooks': inProject('maintainer', (call) =>
    paged(call, [...call.project.hooks.values()], (hook) => hookView(hook, call.project)),
  ),
  'POST /projects/{id}/hooks': inProject('maintainer', (call) => {
    const id = call.world.nextId();
    return created(saveHook(call, { id, url: '', token: '', signingToken: '', events: {} }));
  }),
  'PUT /projects/{id}/hooks/{hook}': inProject('maintainer', (call) => {
    const hook = call.project.hooks.get(Number(call.params['hook']));
    if (hook === undefined) throw notFound('Hook');
    return ok(saveHook(call, hook));
  }),
  'GET /projects/{id}/deploy_keys': inProject('maintainer', (call) =>
    paged(call, [...call.project.deployKeys.values()], deployKeyView),
  ),
  'POST /projects/{id}/deploy_keys': inProject('maintainer', ({ world, project, body, user }) => {
    const key = textOf(body, 'key').split(' ').slice(0, 2).join(' ');
    const elsewhere = [...world.projects.values()].flatMap(({ deployKeys }) => [...deployKeys.values()]);
    const known = elsewhere.find((other) => other.key === key);
    const canPush = body['can_push'] === true;
    const own: DeployKey = { id: known?.id ?? world.nextId(), title: textOf(body, 'title'), key, canPush, owner: user };
    project.deployKeys.set(own.id, own);
    return created(deployKeyView(own));
  }),
  'GET /projects/{id}/labels': inProject('guest', (call) =>
    paged(call, [...call.project.labels], (name) => ({ id: name.length, name, color: '#2da44e', description: null })),
  ),
  'POST /projects/{id}/labels': inProject('reporter', ({ project, body }) => {
    const name = textOf(body, 'name');
    if (project.labels.has(name)) throw new Refused(409, 'Label already exists');
    project.labels.add(name);
    return created({ id: name.length, name, color: textOf(body, 'color'), description: textOf(body, 'description') });
  }),
};

function pushersIn(value: unknown): Protection['push'] {
  const list = Array.isArray(value) ? (value as readonly Record<string, number>[]) : [];
  return list.map(({ deploy_key_id, access_level }) =>
    deploy_key_id === undefined ? (access_level as Level) : { deployKey: deploy_key_id },
  );
}

function saveHook({ project, body }: CallIn, hook: Hook) {
  hook.url = textOf(body, 'url') || hook.url;
  hook.token = textOf(body, 'token') || hook.token;
  hook.signingToken = textOf(body, 'signing_token') || hook.signingToken;
  for (const [name, value] of Object.entries(body)) if (name.endsWith('_events')) hook.events[name] = value === true;
  project.hooks.set(hook.id, hook);
  return hookView(hook, project);
}
