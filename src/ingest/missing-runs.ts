import type { Store } from '../storage/store.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ReadRun } from './read/read-run.ts';

/** Tests whose runs are read at once: each may have a month of runs. */
const TESTS_AT_ONCE = 200;

/**
 * Finds runs that a newer reader sees in an upload that was processed before. Stored runs stay; the runs of a test
 * beyond the stored number are the missing ones.
 */
export async function findMissingRuns(
  store: Store,
  kept: KeptTests,
  { uploadId, groups }: { readonly uploadId: string; readonly groups: ReadonlyMap<string, readonly ReadRun[]> },
): Promise<readonly ReadRun[]> {
  const all = [...groups];
  const missing: ReadRun[] = [];
  for (let from = 0; from < all.length; from += TESTS_AT_ONCE) {
    const some = all.slice(from, from + TESTS_AT_ONCE);
    const counts = await countStored(store, kept, { uploadId, groups: some });
    for (const [id, runs] of some) missing.push(...runs.slice(counts.get(kept.byId.get(id)?.row.no ?? 0) ?? 0));
  }
  return missing;
}

async function countStored(
  store: Store,
  kept: KeptTests,
  of: { readonly uploadId: string; readonly groups: readonly (readonly [string, readonly ReadRun[]])[] },
): Promise<ReadonlyMap<number, number>> {
  const numbers = of.groups.flatMap(([id]) => kept.byId.get(id)?.row.no ?? []);
  const since = of.groups.flatMap(([, runs]) => runs).reduce((first, run) => Math.min(first, run.startedAt), Infinity);
  const counts = new Map<number, number>();
  if (numbers.length === 0) return counts;
  for (const { facts, runs } of await store.testIngest.readRuns(kept.repository.id, numbers, since)) {
    if (facts.uploadId !== of.uploadId) continue;
    for (const { testNo } of runs) counts.set(testNo, (counts.get(testNo) ?? 0) + 1);
  }
  return counts;
}
