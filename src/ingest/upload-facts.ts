import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import type { UploadFacts } from '../flaky/core/run.ts';
import type { Repository } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { currentTestSettings } from '../storage/test-codec.ts';
import type { BatchFacts } from '../storage/test-ingest.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import type { ReadFacts } from './read/read-run.ts';

export function batchFactsOf(
  uploadId: string,
  { fields, job, jobAttempt, tree = null }: ReadFacts,
  { flaw }: { readonly flaw: EvidenceFlaw | null },
): BatchFacts {
  const { branch, sha, jobName, jobUrl, prNumber, candidateId } = fields;
  const named = { jobName: jobName ?? '', jobUrl, prNumber };
  return { uploadId, branch, sha, tree, candidateId, job, jobAttempt, ...named, flaw };
}

export function uploadFactsOf(
  { uploadId, branch, sha, tree, candidateId, job, jobAttempt, prNumber, flaw }: BatchFacts,
  { testBranchPrefix }: { readonly testBranchPrefix: string },
): UploadFacts {
  const isTestBranch = branch.startsWith(`${testBranchPrefix}/`);
  return { id: uploadId, branch, isTestBranch, sha, tree, candidateId, job, jobAttempt, prNumber, flaw };
}

/** The settings that a repository's tests follow, and the previous ones while a change is being applied. */
export type RepositorySettings = StoredTestSettings;

export async function findSettings(store: Store, repository: Repository): Promise<RepositorySettings> {
  return currentTestSettings(repository, await store.testSettings.find(repository.id));
}
