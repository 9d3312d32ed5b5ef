import type { Ask, Route } from '../exchange.ts';
import { findCommit } from '../git.ts';
import type { Repository, Role, World } from '../model.ts';
import { isProtected, protectionOf, requiredChecksOf } from '../protection.ts';
import { branchHead } from '../refs.ts';
import { notFound, Refused } from '../refused.ts';
import { commitView } from '../views/commit-view.ts';
import { fullRepositoryView } from '../views/repository-view.ts';
import { userView } from '../views/user-view.ts';
import { fullNameOf, hasRole, roleOf } from '../world.ts';
import { listed, need, ok, type Params, repositoryOf } from './tools.ts';

const CONTENTS = need('contents', 'read');

export const repositoryRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/{owner}/{repo}', handle: getRepository },
  { method: 'GET', path: '/repos/{owner}/{repo}/branches', handle: listBranches },
  { method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}', handle: getBranch },
  { method: 'GET', path: '/repos/{owner}/{repo}/collaborators/{username}/permission', handle: getPermission },
];

function getRepository(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params);
  const permissions = ask.caller.kind === 'user' ? { permissions: flagsOf(roleOf(repository, ask.caller.user)) } : {};
  return ok({ ...fullRepositoryView(ask.world, repository), ...permissions });
}

const ORDER: readonly Role[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

function flagsOf(role: Role) {
  const reaches = (wanted: Role) => ORDER.indexOf(role) >= ORDER.indexOf(wanted);
  return {
    admin: reaches('admin'),
    maintain: reaches('maintain'),
    push: reaches('write'),
    triage: reaches('triage'),
    pull: reaches('read'),
  };
}

function listBranches(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, CONTENTS);
  const wanted = ask.query.get('protected');
  const names = [...repository.refs.keys()]
    .filter((ref) => ref.startsWith('refs/heads/'))
    .map((ref) => ref.slice('refs/heads/'.length))
    .filter((name) => wanted === null || isProtected(repository, name) === (wanted === 'true'))
    .toSorted();
  return listed(ask, names, (name) => shortBranch(ask.world, repository, name));
}

function shortBranch(world: World, repository: Repository, name: string) {
  const sha = branchHead(repository, name) ?? '';
  return {
    name,
    commit: { sha, url: `${world.url}/repos/${fullNameOf(repository)}/commits/${sha}` },
    protected: isProtected(repository, name),
    ...protectionSummary(world, repository, name),
  };
}

function protectionSummary(world: World, repository: Repository, name: string) {
  const checks = requiredChecksOf(repository, name);
  const level = protectionOf(repository, name)?.bindsAdmins === false ? 'non_admins' : 'everyone';
  return {
    protection: {
      enabled: isProtected(repository, name),
      required_status_checks: {
        enforcement_level: checks.length === 0 ? 'off' : level,
        contexts: checks.map(({ context }) => context),
        checks: checks.map(({ context, appId }) => ({ context, app_id: appId ?? null })),
      },
    },
    protection_url: `${world.url}/repos/${fullNameOf(repository)}/branches/${name}/protection`,
  };
}

async function getBranch(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, CONTENTS);
  const name = params['branch'] ?? '';
  const sha = branchHead(repository, name);
  const commit = sha === undefined ? undefined : await findCommit(repository.gitDir, sha);
  if (commit === undefined) throw new Refused(404, 'Branch not found');
  const api = `${ask.world.url}/repos/${fullNameOf(repository)}/branches/${name}`;
  return ok({
    ...shortBranch(ask.world, repository, name),
    commit: commitView(ask.world, repository, commit),
    _links: { self: api, html: `${ask.world.url}/${fullNameOf(repository)}/tree/${name}` },
  });
}

/** GitHub's older field has four words, and the newer one all of them. */
const OLD: Readonly<Record<Role, string>> = {
  none: 'none',
  read: 'read',
  triage: 'read',
  write: 'write',
  maintain: 'write',
  admin: 'admin',
};

function getPermission(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params);
  const { caller } = ask;
  if (caller.kind === 'nobody') throw new Refused(401, 'Requires authentication');
  if (caller.kind === 'user' && !hasRole(repository, caller.user, 'write'))
    throw new Refused(403, 'Must have push access to view collaborator permission.');
  const user = ask.world.users.get((params['username'] ?? '').toLowerCase());
  if (user === undefined) throw notFound();
  const role = roleOf(repository, user);
  return ok({
    permission: OLD[role],
    role_name: role,
    user: { ...userView(ask.world, user), role_name: role, permissions: flagsOf(role) },
  });
}
