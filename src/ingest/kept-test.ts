import type { TestState } from '../flaky/core/state.ts';
import { countRuns } from '../flaky/daily-counts.ts';
import type { QuarantineSettings } from '../flaky/quarantine.ts';
import { recordTest } from '../flaky/test-record.ts';
import type { Instant } from '../lib/clock.ts';
import { decodeState, encodeState, eventRowOf, nextCheckOf, overrideOf } from '../storage/test-codec.ts';
import type { CountedRuns, KnownTest, StoredRun, TestMemory } from '../storage/test-ingest.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';

/**
 * A test in memory, changed in place. If a change cannot be stored, all tests of the repository are dropped and read
 * again.
 */
export interface KeptTest {
  row: TestRow;
  state: TestState;
  settingsVersion: number;
  lastRunAt: Instant | null;
  /** The store has an older state, and after a crash the missing counts come from the runs. */
  isDirty: boolean;
  /** The number of the stored memory, and the runs that the stored figures lack; null: none. */
  storedSeq: number;
  uncounted: (CountedRuns & { readonly days: number[] }) | null;
}

export function keepKnown({ test, memory }: KnownTest): KeptTest {
  return {
    row: test,
    state: decodeState(memory.state),
    settingsVersion: memory.settingsVersion,
    lastRunAt: memory.lastRunAt,
    isDirty: false,
    storedSeq: memory.seq,
    uncounted: null,
  };
}

/** The memory to store. It takes the uncounted runs along, so a memory that is not stored means a test to read again. */
// SPEC F62
export function takeMemory(test: KeptTest, seq: number): TestMemory {
  const { row, state, settingsVersion, lastRunAt, storedSeq: afterSeq, uncounted } = test;
  const nextCheckAt = nextCheckOf(row, state);
  test.uncounted = null;
  test.storedSeq = seq;
  const memory = { testNo: row.no, seq, state: encodeState(state), nextCheckAt, settingsVersion, lastRunAt };
  return uncounted === null ? memory : { ...memory, counted: { ...uncounted, afterSeq } };
}

type CountableRun = Pick<StoredRun, 'conclusion' | 'startedAt' | 'durationMs'>;

/** Counts runs of an upload that arrived at `at`. */
export function countUncounted(test: KeptTest, runs: readonly CountableRun[], at: Instant): void {
  const days = countRuns(runs, at, test.uncounted?.days);
  if (days.length === 0) return;
  let lastFailureAt = test.uncounted?.lastFailureAt ?? null;
  for (const { conclusion, startedAt } of runs) {
    if (conclusion === 'FAILURE') lastFailureAt = Math.max(lastFailureAt ?? 0, Math.min(startedAt, at));
  }
  test.uncounted = { days, lastFailureAt };
}

export interface Acting {
  readonly settings: QuarantineSettings;
  readonly at: Instant;
  readonly actor: string | null;
}

/** Updates the row from the state and adds events. Returns true if the row changed. */
export function showState(test: KeptTest, events: TestEventRow[], { settings, at, actor }: Acting): boolean {
  const { row, state } = test;
  const override = overrideOf(row);
  const { record, event } = recordTest(state, { override, settings, quarantinedAt: row.quarantinedAt, at, actor });
  if (event !== undefined) events.push(eventRowOf(row.id, event));
  const isSame =
    row.status === record.status &&
    row.statusReason === record.statusReason &&
    row.statusAt === record.statusAt &&
    row.quarantinedAt === record.quarantinedAt &&
    row.isFlagged === record.isFlagged &&
    isSameList(row.labels, record.labels);
  if (!isSame) test.row = { ...row, ...record };
  return !isSame;
}

export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, index) => text === other[index]));
}
