import type { Store } from '../storage/store.ts';
import type { TestMemory } from '../storage/test-ingest.ts';
import { Stale } from './interrupts.ts';
import { type KeptTest, takeMemory } from './kept-test.ts';
import { type KeptTests, SLICE_TESTS } from './kept-tests.ts';
import type { RepositorySettings } from './upload-facts.ts';

/** More uncounted batches take longer to count again after a crash; fewer would rewrite the same memories more often. */
const MAX_BATCHES = 64;
const MAX_RUNS = 300_000;

export function hasManyUncounted({ uncountedBatches, uncountedRuns }: KeptTests): boolean {
  return uncountedBatches >= MAX_BATCHES || uncountedRuns >= MAX_RUNS;
}

/**
 * Stores the memories of tests that only passed. Each slice is one short transaction, so an interruption keeps the slices
 * that were finished.
 */
// SPEC U35
export async function storeMemories(
  store: Store,
  { kept, settings }: { readonly kept: KeptTests; readonly settings: RepositorySettings },
  step: () => Promise<void>,
): Promise<void> {
  const { seq: upToSeq } = kept;
  const repositoryId = kept.repository.id;
  for (const slice of [...kept.touched].sort((one, other) => one - other)) {
    await step();
    // Tests follow the applied settings, even if newer ones are stored.
    await kept.loadUncounted(slice, settings.appliedMonitors);
    const dirty = dirtyTests(kept, slice * SLICE_TESTS);
    const memories = dirty.map((test): TestMemory => takeMemory(test, upToSeq));
    const isStored = await store.testIngest.storeMemories({ repositoryId, expectedSeq: upToSeq, memories });
    if (!isStored) throw new Stale();
    for (const test of dirty) test.isDirty = false;
  }
  await store.testIngest.markCounted(repositoryId, upToSeq);
  kept.noteCounted();
}

function dirtyTests({ byNo }: KeptTests, fromNo: number): readonly KeptTest[] {
  return byNo
    .slice(fromNo, fromNo + SLICE_TESTS)
    .filter((test) => test !== undefined)
    .filter(({ isDirty }) => isDirty);
}
