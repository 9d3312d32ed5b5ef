import { cleanBranch } from '../../flaky/identity/branch.ts';
import { cutVariant } from '../../flaky/identity/variant.ts';
import type { UploadFields } from '../../storage/uploads.ts';
import { parseCandidateId } from '../queue/get-merge-queue-testing-details.ts';

/** As somebody wrote them. */
export interface GivenFields {
  readonly sha: string;
  readonly branch: string;
  readonly prNumber: number | undefined;
  readonly jobName: string | undefined;
  readonly jobUrl: string | undefined;
  readonly variant: string | undefined;
  readonly testRunId: string | undefined;
  readonly check: string | undefined;
  readonly isFork: boolean;
  readonly jobAttempt: number | undefined;
  readonly checkoutRoot: string | undefined;
}

/** As they are stored and compared. */
export function makeUploadFields(given: GivenFields): UploadFields {
  return {
    sha: given.sha.toLowerCase(),
    // Nothing but what git puts before a name is a name all the same.
    branch: cleanBranch(given.branch) || given.branch,
    prNumber: given.prNumber ?? null,
    jobName: given.jobName ?? null,
    jobUrl: given.jobUrl ?? null,
    variant: cutVariant(given.variant),
    candidateId: given.testRunId === undefined ? null : parseCandidateId(given.testRunId),
    check: given.check ?? null,
    isFork: given.isFork,
    jobAttempt: given.jobAttempt ?? null,
    ...(given.checkoutRoot !== undefined && { checkoutRoot: given.checkoutRoot }),
  };
}
