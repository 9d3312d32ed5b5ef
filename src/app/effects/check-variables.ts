import { type Candidate, compositionOf } from '../../engine/candidate.ts';
import type { RunnerCheck } from '../../storage/repositories.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { formatRef } from '../core/find-queue.ts';
import type { EffectRun } from './effect-run.ts';

/** The environment variables of a check. */
// SPEC R2
export function checkVariables(
  { found, forge, repository }: EffectRun,
  candidate: Candidate,
  { name }: RunnerCheck,
): Record<string, string> {
  const candidateId = candidateIdOf(found.id, candidate.number);
  const { members } = candidate;
  const isBisection = candidate.purpose.kind === 'bisection';
  const testBranch = forge.testBranchOf({ candidateId, prNumber: members[0]?.prNumber, isBisection });
  return {
    CI: 'true',
    SLUICE: 'true',
    SLUICE_REPOSITORY: formatRef(repository),
    SLUICE_TARGET_BRANCH: found.queue.branch,
    SLUICE_TEST_BRANCH: testBranch,
    SLUICE_TEST_RUN_ID: candidateId,
    SLUICE_CHECK: name,
    SLUICE_COMMIT: candidate.commit?.sha ?? '',
    SLUICE_BASE_COMMIT: candidate.base.sha,
    // All pull requests in the commit, and those tested in it for the first time.
    SLUICE_PULL_REQUESTS: compositionOf(candidate)
      .map(({ prNumber }) => prNumber)
      .join(' '),
    SLUICE_TESTED_PULL_REQUESTS: members.map(({ prNumber }) => prNumber).join(' '),
  };
}
