import { branchRef } from '../../git/ref-name.ts';
import { Fault } from '../../lib/fault.ts';
import { describeRevert, makeRevert } from '../candidate/revert.ts';
import type { RevertAnswer, RevertRequest } from '../forge.ts';
import type { CandidateParts } from './candidates.ts';
import { fetchMissing } from './git-access.ts';

/** A branch of its own, named by its commit, and a pull request of the account of Sluice. */
// SPEC L65
export async function proposeRevert(parts: CandidateParts, request: RevertRequest): Promise<RevertAnswer> {
  const { access, adapter } = parts;
  const { repository, targetBranch, head, commit, before = commit } = request;
  const made = await access.ask(repository, async (git) => {
    await fetchMissing(git, [head, commit, before]);
    const revert = await makeRevert(git.focus([]), request);
    if (revert.kind !== 'made') return revert;
    const branch = `sluice-revert-${request.prNumber ?? commit.slice(0, 12)}-${revert.sha.slice(0, 12)}`;
    const answer = await git.changeRefs([{ kind: 'set', ref: branchRef(branch), sha: revert.sha }]);
    if (answer.kind === 'stale') throw new Fault('FORGE_UNAVAILABLE', `${branch} is being changed by somebody else.`);
    return answer.kind === 'refused' ? answer : { ...revert, branch };
  });
  if (made.kind !== 'made') return made;
  const { branch, title } = made;
  const refusal = await adapter.openPullRequest({
    ...{ repository, targetBranch, branch, title, body: describeRevert(request) },
    isDraft: false,
  });
  if (refusal !== undefined) return { kind: 'refused', detail: refusal.detail };
  const number = await adapter.hosting.findByBranch(repository, branch);
  if (number !== undefined) return { kind: 'proposed', number };
  throw new Fault('FORGE_UNAVAILABLE', `${adapter.remote.title} does not show the pull request of ${branch} yet.`);
}
