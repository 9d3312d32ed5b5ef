import type { Store } from '../storage/store.ts';
import type { TestMemory } from '../storage/test-ingest.ts';
import { Stale } from './interrupts.ts';
import { type KeptTest, memoryOf } from './kept-test.ts';
import { type KeptTests, SLICE_TESTS } from './kept-tests.ts';
import type { RepositorySettings } from './repository-settings.ts';

/** More blocks slow down every read that must search them; fewer would rewrite the same chunks more often. */
const MAX_BLOCKS = 64;
const MAX_RUNS = 300_000;

export function hasMuchToMerge({ unmergedBlocks, unmergedRuns }: KeptTests): boolean {
  return unmergedBlocks >= MAX_BLOCKS || unmergedRuns >= MAX_RUNS;
}

/**
 * Sorts runs by test and day, slice by slice, and stores the memories of tests that only passed. Each slice is one
 * short transaction, so an interrupted merge keeps the slices it finished.
 */
export async function mergeRuns(
  store: Store,
  { kept, settings }: { readonly kept: KeptTests; readonly settings: RepositorySettings },
  step: () => Promise<void>,
): Promise<void> {
  const { seq: upToSeq } = kept;
  const repositoryId = kept.repository.id;
  for (const slice of [...kept.touched].sort((one, other) => one - other)) {
    await step();
    // Tests follow the applied settings, even if newer ones are stored.
    await kept.loadUnmerged(slice, settings.appliedMonitors);
    const fromNo = slice * SLICE_TESTS;
    const toNo = fromNo + SLICE_TESTS;
    const dirty = dirtyTests(kept, fromNo, toNo);
    const memories = dirty.map((test): TestMemory => memoryOf(test, upToSeq));
    const isMerged = await store.testIngest.merge({
      repositoryId,
      expectedSeq: upToSeq,
      upToSeq,
      fromNo,
      toNo,
      memories,
    });
    if (!isMerged) throw new Stale();
    for (const test of dirty) test.isDirty = false;
  }
  await store.testIngest.dropBlocks(repositoryId, upToSeq);
  kept.noteMerged();
}

function dirtyTests(kept: KeptTests, fromNo: number, toNo: number): readonly KeptTest[] {
  const found: KeptTest[] = [];
  for (let no = fromNo; no < toNo; no += 1) {
    const test = kept.byNo[no];
    if (test?.isDirty === true) found.push(test);
  }
  return found;
}
