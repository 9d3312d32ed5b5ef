import type { Instant } from '../../lib/clock.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import { decodeTransition } from '../core/queue-codec.ts';

/** One stay of a pull request in the queue, read from stored transitions. */
export interface Cycle {
  readonly prNumber: number;
  /** The event that began it. */
  readonly version: number;
  /** Ready and admitted. From here on the queue makes it wait. */
  arrivedAt: Instant;
  admittedVersion: number | undefined;
  /** The duration of its last completed run. */
  testingMs: number | undefined;
  end: { readonly state: string; readonly reason: string; readonly at: Instant } | undefined;
  restarts: number;
  readonly runs: Set<string>;
  /** When its present run began. */
  started: { readonly at: Instant; readonly run: string | undefined } | undefined;
}

const ENDED: ReadonlySet<string> = new Set(['MERGED', 'FAILED', 'CANCELLED']);

/** Expects transitions oldest first. Stays that began before the first one are left out. */
export function cyclesOf(rows: readonly TransitionRow[]): Cycle[] {
  const cycles: Cycle[] = [];
  const open = new Map<string, Cycle>();
  for (const row of rows) {
    if (row.from === null) {
      const cycle = beginCycle(row);
      cycles.push(cycle);
      open.set(row.entryId, cycle);
      continue;
    }
    const cycle = open.get(row.entryId);
    if (cycle === undefined) continue;
    follow(cycle, row);
    if (cycle.end !== undefined) open.delete(row.entryId);
  }
  return cycles;
}

function beginCycle({ prNumber, version, at }: TransitionRow): Cycle {
  return {
    prNumber,
    version,
    arrivedAt: at,
    admittedVersion: undefined,
    testingMs: undefined,
    end: undefined,
    restarts: 0,
    runs: new Set(),
    started: undefined,
  };
}

function follow(cycle: Cycle, row: TransitionRow): void {
  const { from, to, at, version } = row;
  const { reason, testRunId } = decodeTransition(row);
  if (to === 'PENDING' && from === 'NOT_READY') {
    cycle.arrivedAt = at;
    cycle.admittedVersion = version;
  } else if (to === 'PENDING') cycle.restarts += 1;
  if (to === 'TESTING') {
    cycle.started = { at, run: testRunId };
    if (testRunId !== undefined) cycle.runs.add(testRunId);
  } else if (cycle.started !== undefined && isResultOf(cycle.started.run, reason, testRunId)) {
    cycle.testingMs = Math.max(0, at - cycle.started.at);
    cycle.started = undefined;
  }
  if (ENDED.has(to)) cycle.end = { state: to, reason, at };
}

/** A pass taken over from another run or from a successor says nothing about the duration of CI. */
function isResultOf(run: string | undefined, reason: string, testRunId: string | undefined): boolean {
  return (reason === 'TEST_RUN_PASSED' || reason === 'TEST_RUN_REQUIRED_STATUS_FAILED') && testRunId === run;
}
