import type { TestState } from '../flaky/core/state.ts';
import type { QuarantineSettings } from '../flaky/quarantine.ts';
import { recordTest } from '../flaky/test-record.ts';
import type { Instant } from '../lib/clock.ts';
import { decodeState, encodeState, eventRowOf, nextCheckOf, overrideOf } from '../storage/test-codec.ts';
import type { KnownTest, TestMemory } from '../storage/test-ingest.ts';
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
}

export function keepKnown({ test, memory }: KnownTest): KeptTest {
  return {
    row: test,
    state: decodeState(memory.state),
    settingsVersion: memory.settingsVersion,
    lastRunAt: memory.lastRunAt,
    isDirty: false,
  };
}

export function memoryOf({ row, state, settingsVersion, lastRunAt }: KeptTest, seq: number): TestMemory {
  const nextCheckAt = nextCheckOf(row, state);
  return { testNo: row.no, seq, state: encodeState(state), nextCheckAt, settingsVersion, lastRunAt };
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
