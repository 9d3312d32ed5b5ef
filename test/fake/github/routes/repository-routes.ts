import { runGit } from '../../hosted/git.ts';
import type { Route } from '../exchange.ts';
import type { Repository, Role } from '../model.ts';
import { isProtected, protectionOf, rulesetsOf } from '../protection.ts';
import { pushBlock } from '../pushes.ts';
import { branchHead, moveRefs, ZEROS } from '../refs.ts';
import { invalid, notFound, Refused } from '../refused.ts';
import { userView } from '../views/account-view.ts';
import { branchRuleView, protectionView, rulesetView } from '../views/protection-view.ts';
import { repositoryView } from '../views/repository-view.ts';
import { hasRole, inTurn, ROLES, roleOf } from '../world.ts';
import { type Call, inRepository, METADATA, need, ok } from './call.ts';

const CONTENTS = need('contents', 'read');
/** People must be admins. For apps the read permission is enough. */
const SETTINGS = { permission: 'administration', access: 'read', role: 'admin' } as const;

export const repositoryRoutes: readonly Route[] = [
  inRepository('GET ', METADATA, getRepository),
  inRepository('GET /branches/{branch}', CONTENTS, getBranch),
  inRepository('GET /branches/{branch}/protection', SETTINGS, getProtection),
  inRepository('GET /rules/branches/{branch}', METADATA, listRules),
  inRepository('GET /rulesets/{ruleset_id}', METADATA, getRuleset),
  inRepository('GET /collaborators/{username}/permission', METADATA, getPermission),
  inRepository('GET /contents/{path}', CONTENTS, getContent),
  inRepository('DELETE /git/refs/{ref}', need('contents', 'write'), deleteRef),
];

function getRepository({ ask: { caller }, repository }: Call) {
  const permissions = caller.kind === 'user' ? { permissions: flagsOf(roleOf(repository, caller.user)) } : {};
  return ok({ ...repositoryView(repository), ...permissions });
}

function flagsOf(role: Role) {
  const reaches = (wanted: Role) => ROLES.indexOf(role) >= ROLES.indexOf(wanted);
  return {
    admin: reaches('admin'),
    maintain: reaches('maintain'),
    push: reaches('write'),
    triage: reaches('triage'),
    pull: reaches('read'),
  };
}

function getBranch(call: Call) {
  const { repository } = call;
  const name = call.text('branch');
  const sha = branchHead(repository, name);
  if (sha === undefined) throw new Refused(404, 'Branch not found');
  return ok({ name, commit: { sha }, protected: isProtected(repository, name) });
}

function getProtection(call: Call) {
  const { repository, world } = call;
  const branch = call.text('branch');
  if (branchHead(repository, branch) === undefined) throw new Refused(404, 'Branch not found');
  const protection = protectionOf(repository, branch);
  if (protection === undefined) throw new Refused(404, 'Branch not protected');
  return ok(protectionView(world, protection));
}

function listRules(call: Call) {
  const { repository } = call;
  const rules = rulesetsOf(repository, call.text('branch')).flatMap((ruleset) =>
    ruleset.rules.map((rule) => branchRuleView(repository, ruleset, rule)),
  );
  return call.list(rules, (rule) => rule);
}

function getRuleset(call: Call) {
  const { repository, ask } = call;
  return ok(rulesetView(repository, call.pick(repository.rulesets, 'ruleset_id'), ask.caller));
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

function getPermission(call: Call) {
  const { repository, world, ask } = call;
  if (ask.caller.kind === 'user' && !hasRole(repository, call.actor, 'write'))
    throw new Refused(403, 'Must have push access to view collaborator permission.');
  const user = world.users.get(call.text('username').toLowerCase());
  if (user === undefined) throw notFound();
  const role = roleOf(repository, user);
  const view = { ...userView(user), role_name: role, permissions: flagsOf(role) };
  return ok({ permission: OLD[role], role_name: role, user: view });
}

interface TreeEntry {
  readonly type: 'file' | 'dir';
  readonly sha: string;
  readonly size: number;
  readonly path: string;
}

/** A file with its content, or the list of a folder. */
async function getContent(call: Call) {
  const { repository, ask } = call;
  const ref = ask.query.get('ref') ?? repository.defaultBranch;
  const path = call.text('path').replaceAll(/^\/+|\/+$/g, '');
  const [own] = await listTree(repository, ref, path);
  if (own === undefined) throw notFound();
  if (own.type === 'dir') {
    const entries = await listTree(repository, ref, `${path}/`);
    return ok(entries.map(entryView));
  }
  const { stdout } = await runGit(repository.gitDir, ['cat-file', 'blob', own.sha]);
  return ok({ ...entryView(own), encoding: 'base64', content: stdout.toString('base64') });
}

async function listTree({ gitDir }: Repository, ref: string, path: string): Promise<readonly TreeEntry[]> {
  const args = ['ls-tree', '--long', '-z', '--end-of-options', ref, path];
  const { code, stdout } = await runGit(gitDir, args, { expected: [0, 128] });
  if (code !== 0) return [];
  return stdout
    .toString()
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [facts = '', name = ''] = line.split('\t');
      const [, type, sha = '', size] = facts.split(/ +/);
      return { type: type === 'tree' ? 'dir' : 'file', sha, size: Number(size) || 0, path: name };
    });
}

/** The description has alternatives here, in which nothing is completed. */
function entryView({ type, sha, size, path }: TreeEntry) {
  const links = { url: '', git_url: null, html_url: null, download_url: null };
  const name = path.split('/').at(-1) ?? path;
  return { type, size, name, path, sha, ...links, _links: { self: '', git: null, html: null } };
}

function deleteRef(call: Call) {
  const { repository, world, ask } = call;
  const ref = `refs/${call.text('ref')}`;
  return inTurn(repository, async () => {
    const before = repository.refs.get(ref);
    if (before === undefined) throw new Refused(422, 'Reference does not exist');
    const block = pushBlock(repository, ask.caller, { ref, before, after: ZEROS });
    if (block !== undefined) throw invalid({ resource: 'Reference', code: 'custom', message: block });
    await moveRefs(world, repository, call.actor, [{ ref, after: undefined }]);
    return { status: 204 };
  });
}
