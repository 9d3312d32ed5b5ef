import { createGit } from '../../git/create-git.ts';
import { bound } from '../../lib/bound.ts';
import type { Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { testBranch } from '../candidate/candidate-refs.ts';
import { checkOut, findTree, isAncestor, listLine, listOwnCommits, showConflict } from '../candidate/commits.ts';
import { listChangedFiles, readFiles } from '../candidate/lane-files.ts';
import type { Forge, ForgeRepository } from '../forge.ts';
import type { HostedAdapter } from './adapter.ts';
import {
  buildCandidate,
  type CandidateParts,
  discardCandidate,
  findBranchHead,
  focusOnLanding,
  listCandidateIds,
  publishCandidate,
} from './candidates.ts';
import { createGitAccess } from './git-access.ts';
import { landHosted } from './land.ts';
import { proposeRevert } from './revert.ts';

export interface HostedOptions {
  readonly directory: string;
  readonly clock: Timing;
  readonly testBranchPrefix: string;
  /** How long a caller waits for a git fetch before it gets an error. */
  readonly remoteWaitMs?: number;
}

/** Pull requests, checks and merges go through the adapter; commits and branches go through git. */
export function createHostedForge(adapter: HostedAdapter, options: HostedOptions): Forge {
  const { hosting, merging, pullRequestRef } = adapter;
  const { clock, testBranchPrefix } = options;
  const git = createGit(options);
  const access = createGitAccess(git, adapter.remote);
  const parts: CandidateParts = { access, adapter, testBranchPrefix };
  return {
    hosting,
    findPullRequest: (query) => adapter.findPullRequest(query),
    testBranchOf: (branch) => testBranch(testBranchPrefix, branch),
    ...bound(access, { isAncestor, findTree, listLine, listOwnCommits, checkOut }),
    ...bound(access, { readFiles, listChangedFiles, showConflict }),
    ...bound(parts, { findBranchHead, buildCandidate, publishCandidate, discardCandidate }),
    ...bound(parts, { listCandidateIds, checkAccess, proposeRevert }),
    landCandidate: (request) =>
      access.ask(request.repository, async (opened) => {
        const focused = await focusOnLanding(opened, request, pullRequestRef);
        return landHosted({ git: focused, merging, pullRequestRef, clock }, request);
      }),
    async close() {
      adapter.close();
      await git.close();
    },
  };
}

/** Answers a sentence when the repository cannot be used, or undefined when it can. */
// SPEC G7
async function checkAccess(
  { adapter, access }: CandidateParts,
  repository: ForgeRepository,
): Promise<string | undefined> {
  await adapter.remote.forget(repository, undefined);
  try {
    const refusal = await adapter.checkRepository(repository);
    if (refusal !== undefined) return refusal;
    const problem = await access.findProblem(repository);
    // Git's error does not name the missing permission.
    return problem === undefined ? undefined : ((await adapter.explainNoAccess?.(repository)) ?? problem);
  } catch (error) {
    if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') return error.detail;
    throw error;
  }
}
