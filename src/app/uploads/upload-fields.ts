import { cleanBranch } from '../../flaky/identity/branch.ts';
import { cutVariant } from '../../flaky/identity/test-id.ts';
import type { UploadFields } from '../../storage/uploads.ts';
import { parseCandidateId } from '../queue/get-merge-queue-testing-details.ts';

/** The fields as a client sent them. */
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

/** Normalizes the fields for storage and comparison. */
export function makeUploadFields(given: GivenFields): UploadFields {
  return {
    sha: given.sha.toLowerCase(),
    // A branch may be named like a prefix that is stripped, such as "origin/".
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
