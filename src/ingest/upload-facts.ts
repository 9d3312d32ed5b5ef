import type { Standing } from '../flaky/core/evidence.ts';
import type { UploadFacts } from '../flaky/core/run.ts';
import type { BatchFacts } from '../storage/test-ingest.ts';
import type { ReadFacts } from './read/read-run.ts';

export function batchFactsOf(uploadId: string, { fields, job, jobAttempt }: ReadFacts, standing: Standing): BatchFacts {
  const { branch, sha, jobName, jobUrl, prNumber } = fields;
  const { flaw, isProven } = standing;
  return { uploadId, branch, sha, job, jobAttempt, jobName: jobName ?? '', jobUrl, prNumber, flaw, isProven };
}

export function uploadFactsOf({ uploadId, branch, sha, job, jobAttempt, prNumber, flaw }: BatchFacts): UploadFacts {
  return { id: uploadId, branch, sha, job, jobAttempt, prNumber, flaw };
}
