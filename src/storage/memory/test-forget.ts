import type { MemoryTest, MemoryTests } from './state.ts';

/** All at once; answers how much it was. */
export function forget(tests: MemoryTests, before: number): number {
  const removed = forgetRows(tests, before) + forgetBatches(tests, before);
  const idle = [...tests.byId.values()].filter((test) => isIdle(tests, test, before));
  if (idle.length === 0) return removed;
  const ids = new Set(idle.map(({ row }) => row.id));
  for (const id of ids) tests.byId.delete(id);
  tests.events = tests.events.filter(({ testId }) => !ids.has(testId));
  tests.failures = tests.failures.filter(({ testId }) => !ids.has(testId));
  if (idle.some(({ row }) => row.quarantinedAt !== null)) tests.quarantineVersion += 1;
  // Whoever keeps them in memory reads them again.
  tests.lastSeq += 1;
  return removed + idle.length;
}

function forgetRows(tests: MemoryTests, before: number): number {
  const { failures, events } = tests;
  tests.failures = failures.filter(({ startedAt }) => startedAt >= before);
  tests.events = events.filter(({ at }) => at >= before);
  let removed = failures.length - tests.failures.length + events.length - tests.events.length;
  for (const [key, results] of tests.checkResults) {
    if (results.at >= before) continue;
    tests.checkResults.delete(key);
    removed += 1;
  }
  for (const batch of tests.batches) {
    if (batch.isBlock) continue;
    const kept = batch.runs.filter(({ startedAt }) => startedAt >= before);
    removed += batch.runs.length - kept.length;
    batch.runs = kept;
  }
  return removed;
}

/** Those before the first that is kept, in the order of storing. */
function forgetBatches(tests: MemoryTests, before: number): number {
  const kept = tests.batches.findIndex(({ receivedAt, isBlock }) => receivedAt >= before || isBlock);
  return tests.batches.splice(0, kept === -1 ? tests.batches.length : kept).length;
}

function isIdle(tests: MemoryTests, { row, memory }: MemoryTest, before: number): boolean {
  const runsStill = tests.batches.some(({ isBlock, runs }) => isBlock && runs.some(({ testNo }) => testNo === row.no));
  return (
    !runsStill &&
    (memory.lastRunAt ?? row.firstSeenAt) < before &&
    row.quarantineOverride === 'UNSPECIFIED' &&
    !row.isFlagged &&
    row.ticketUrl === null
  );
}
