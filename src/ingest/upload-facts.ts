import type { UploadFacts } from '../flaky/run.ts';
import type { BatchFacts } from '../storage/test-ingest.ts';
import type { ReadFacts } from './read/read-run.ts';

export function batchFactsOf(uploadId: string, { fields, job, jobAttempt, isFork }: ReadFacts): BatchFacts {
  const { branch, sha, jobName, jobUrl, prNumber } = fields;
  return { uploadId, branch, sha, job, jobAttempt, jobName: jobName ?? '', jobUrl, prNumber, isFork };
}

/** What monitors look at of it. */
export function uploadFactsOf({ uploadId, branch, sha, job, jobAttempt, prNumber, isFork }: BatchFacts): UploadFacts {
  return { id: uploadId, branch, sha, job, jobAttempt, prNumber, isFork };
}
