import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import type { StoredBatch } from '../storage/test-ingest.ts';

/** A test may have some hundred thousand runs in a year. */
const TESTS_AT_ONCE = 8;

/** Reads the stored runs of tests, a few tests at a time. */
export async function* readRunsInSteps(
  store: Store,
  repositoryId: RepositoryId,
  of: { readonly testNos: readonly number[]; readonly since: Instant; readonly step: () => Promise<void> },
): AsyncGenerator<{ readonly testNos: readonly number[]; readonly batches: readonly StoredBatch[] }> {
  for (let from = 0; from < of.testNos.length; from += TESTS_AT_ONCE) {
    await of.step();
    const testNos = of.testNos.slice(from, from + TESTS_AT_ONCE);
    yield { testNos, batches: await store.testIngest.readRuns(repositoryId, testNos, of.since) };
  }
}
