import { gitLines, runGit } from '../hosted/git.ts';
import { type CallIn, inRepository, notFound, Refused, type Routes } from './call.ts';
import { branchHead, hasMode, inTurn, protectionOf } from './model.ts';
import { mayMerge, mayPush } from './protection.ts';
import { catchUp, openPullRequests } from './pushes.ts';
import { UNPROTECTED } from './repository-routes.ts';
import type { View } from './views.ts';

/** Branches, folders and files. */
export const branchRoutes: Routes = {
  'GET /repos/{owner}/{repo}/branches/{*branch}': inRepository('read', (call) => {
    const { branch = '' } = call.params;
    if (branchHead(call.repository, branch) === undefined) throw notFound(call);
    return { status: 200, body: branchView(call, branch) };
  }),
  'DELETE /repos/{owner}/{repo}/branches/{*branch}': inRepository('write', (call) =>
    inTurn(call.repository, async () => {
      const { branch = '' } = call.params;
      const { repository, world, user } = call;
      if (branchHead(repository, branch) === undefined) throw notFound(call);
      const isTarget = openPullRequests(repository).some(({ baseBranch }) => baseBranch === branch);
      if (branch === repository.defaultBranch || isTarget) throw new Refused(403, MAY_NOT_DELETE, world);
      if (protectionOf(repository, branch) !== undefined) throw new Refused(403, 'branch protected', world);
      await runGit(repository.gitDir, ['update-ref', '-d', `refs/heads/${branch}`]);
      await catchUp(world, repository, user);
      return { status: 204 };
    }),
  ),
  'GET /repos/{owner}/{repo}/git/trees/{sha}': inRepository('read', async (call) => {
    const { sha = '' } = call.params;
    const lines = await gitLines(call.repository.gitDir, ['ls-tree', '-z', sha], { expected: [0, 128] });
    if (lines.length === 0) throw new Refused(400, `sha not found [${sha}]`, call.world);
    const tree = (lines[0] ?? '')
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const [, mode, type, of, path] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
        return { path, mode, type, sha: of };
      });
    return { status: 200, body: { sha, tree, truncated: false } };
  }),
  'GET /repos/{owner}/{repo}/contents/{*path}': inRepository('read', async (call) => {
    const { path = '' } = call.params;
    const name = `${call.query.get('ref') ?? call.repository.defaultBranch}:${path}`;
    const { code, stdout } = await runGit(call.repository.gitDir, ['cat-file', 'blob', name], { expected: [0, 128] });
    if (code !== 0) throw new Refused(404, 'GetContentsOrList', call.world);
    return { status: 200, body: { path, type: 'file', encoding: 'base64', content: stdout.toString('base64') } };
  }),
};

const MAY_NOT_DELETE = 'can not delete default or pull request target branch';

function branchView({ repository, caller }: CallIn, name: string): View {
  const protection = protectionOf(repository, name);
  const rule = protection?.rule ?? UNPROTECTED;
  return {
    name,
    commit: { id: branchHead(repository, name) },
    protected: protection !== undefined,
    required_approvals: rule['required_approvals'],
    enable_status_check: rule['enable_status_check'],
    status_check_contexts: rule['status_check_contexts'],
    user_can_push: caller !== undefined && mayPush(repository, name, caller),
    user_can_merge: caller !== undefined && mayMerge(repository, name, caller),
    // Only those who may change it hear of its name.
    effective_branch_protection_name: hasMode(repository, caller, 'admin') ? (protection?.ruleName ?? '') : '',
  };
}
