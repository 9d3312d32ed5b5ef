/**
 * Adds up the cost of flaky tests in a queue. A run of a queue's candidate is lost to flakes if every test that failed in
 * it is flaky. It costs the time of its checks, and the time for which its pull requests waited in vain.
 */
export interface LostRun {
  /** The flaky tests that failed. At least one. */
  readonly testIds: readonly string[];
  readonly ciMs: number;
  /** All of the tests were quarantined, and the queue did not honor that. */
  readonly isExcused: boolean;
  readonly entries: readonly LostEntry[];
}

export interface LostEntry {
  /** Unique among all entries. */
  readonly key: string;
  readonly isRemoved: boolean;
  readonly waitedMs: number;
}

export interface FlakeCost {
  readonly runs: number;
  /** Entries that a lost run removed. */
  readonly removed: number;
  /** Other entries: they were tested again. */
  readonly retested: number;
  readonly waitedMs: number;
  readonly ciMs: number;
}

/** An entry counts once, however many runs it lost. */
// SPEC F67
export function costOf(runs: readonly LostRun[]): FlakeCost {
  const entries = runs.flatMap((run) => run.entries);
  const removed = new Set(entries.filter(({ isRemoved }) => isRemoved).map(({ key }) => key));
  const all = new Set(entries.map(({ key }) => key));
  return {
    runs: runs.length,
    removed: removed.size,
    retested: all.size - removed.size,
    waitedMs: entries.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
    ciMs: runs.reduce((sum, { ciMs }) => sum + ciMs, 0),
  };
}

/** By test or owner, the most waiting first. A run in which several failed counts for each of them. */
export function costsBy(
  runs: readonly LostRun[],
  keysOf: (testId: string) => readonly string[],
): readonly (readonly [key: string, cost: FlakeCost])[] {
  const byKey = new Map<string, LostRun[]>();
  for (const run of runs) {
    for (const key of new Set(run.testIds.flatMap(keysOf))) byKey.set(key, [...(byKey.get(key) ?? []), run]);
  }
  return [...byKey]
    .map(([key, own]) => [key, costOf(own)] as const)
    .sort(([one, a], [other, b]) => b.waitedMs - a.waitedMs || b.ciMs - a.ciMs || (one < other ? -1 : 1));
}

/** More tests at once are no advice. */
const MAX_ADVISED = 3;

export interface QuarantineAdvice {
  readonly testIds: readonly string[];
  readonly saved: FlakeCost;
}

/**
 * The tests, three at most, whose quarantine would have saved the most waiting. A run is saved if all tests that failed in
 * it are among them, so the failed tests of one run are chosen together, greedily.
 */
// SPEC F68
export function adviseQuarantine(runs: readonly LostRun[]): QuarantineAdvice | undefined {
  const open = runs.filter(({ isExcused }) => !isExcused);
  let chosen: ReadonlySet<string> = new Set();
  for (;;) {
    const better = open
      .map(({ testIds }) => new Set([...chosen, ...testIds]))
      .filter(({ size }) => size > chosen.size && size <= MAX_ADVISED)
      .map((testIds) => ({ testIds, value: worthOf(savedBy(open, testIds)) / (testIds.size - chosen.size) }))
      .reduce<{ testIds: ReadonlySet<string>; value: number } | undefined>(
        (best, each) => (best === undefined || each.value > best.value ? each : best),
        undefined,
      );
    if (better === undefined) break;
    chosen = better.testIds;
  }
  return chosen.size === 0 ? undefined : { testIds: [...chosen], saved: costOf(savedBy(open, chosen)) };
}

function savedBy(runs: readonly LostRun[], chosen: ReadonlySet<string>): readonly LostRun[] {
  return runs.filter(({ testIds }) => testIds.every((id) => chosen.has(id)));
}

/** Waiting first; a run nobody waited for still has its checks. */
function worthOf(runs: readonly LostRun[]): number {
  const { waitedMs, ciMs } = costOf(runs);
  return waitedMs + ciMs / 1_000;
}
