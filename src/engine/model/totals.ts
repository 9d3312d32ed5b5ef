import { causeOf } from './blame.ts';
import type { Candidate } from './candidate.ts';

/**
 * Counters of a queue since it was created. Each step adds to them, and they are stored with the state
 * in the same commit: a repeated, lost or concurrent event can count neither twice nor never, a counter rises across
 * restarts and on several servers, and reading it needs no history.
 */
export interface Totals {
  /** By `CONCLUSION REASON`, and `CONCLUSION REASON agent` for those that agents submitted. */
  readonly left: Readonly<Record<string, number>>;
  /** By `purpose state`, when they end. */
  readonly candidates: Readonly<Record<string, number>>;
  /** Runs that ended without a pass, by `purpose cause`. */
  readonly causes: Readonly<Record<string, number>>;
  /** From the begin of the tests to their verdict, or until the candidate was abandoned. */
  readonly ciMs: number;
  readonly reusedTrees: number;
  readonly waived: number;
  /** How many entries left within each bound of IN_QUEUE_BOUNDS_S and no earlier one; the last is beyond all of them. */
  readonly inQueue: readonly number[];
  readonly inQueueMs: number;
}

export const IN_QUEUE_BOUNDS_S = [60, 300, 600, 900, 1800, 3600, 7200, 14_400];

export const NO_TOTALS: Totals = {
  left: {},
  candidates: {},
  causes: {},
  ciMs: 0,
  reusedTrees: 0,
  waived: 0,
  inQueue: [],
  inQueueMs: 0,
};

/** The part of a step that counts. */
interface Counted {
  readonly transitions: readonly {
    readonly to: string;
    readonly because: { readonly reason: string };
    readonly inQueueMs: number | undefined;
    readonly isAgents?: true;
  }[];
  readonly endedCandidates: readonly Candidate[];
}

const LEFT: readonly string[] = ['MERGED', 'FAILED', 'CANCELLED'];

// SPEC M11
export function addTotals(totals: Totals, { transitions, endedCandidates }: Counted): Totals {
  const left = transitions.filter(({ to }) => LEFT.includes(to));
  if (left.length === 0 && endedCandidates.length === 0) return totals;
  const times = left.flatMap(({ inQueueMs }) => inQueueMs ?? []);
  return {
    left: counted(
      totals.left,
      left.map(({ to, because, isAgents }) => `${to} ${because.reason}${isAgents ? ' agent' : ''}`),
    ),
    candidates: counted(
      totals.candidates,
      endedCandidates.map((run) => `${kindOf(run)} ${run.state}`),
    ),
    causes: counted(
      totals.causes ?? {},
      endedCandidates.flatMap((run) => (run.state === 'failed' ? `${kindOf(run)} ${causeOf(run)}` : [])),
    ),
    ciMs: totals.ciMs + sum(endedCandidates.map(runMs)),
    reusedTrees: totals.reusedTrees + endedCandidates.filter(({ pass }) => pass?.by === 'reused_run').length,
    waived: totals.waived + sum(endedCandidates.map(({ pass }) => pass?.waived?.length ?? 0)),
    inQueue: times.reduce(addToBucket, totals.inQueue),
    inQueueMs: totals.inQueueMs + sum(times),
  };
}

function kindOf({ purpose, question }: Candidate): string {
  return question === undefined ? purpose.kind : 'probe';
}

function counted(counts: Readonly<Record<string, number>>, keys: readonly string[]): Readonly<Record<string, number>> {
  if (keys.length === 0) return counts;
  const more: Record<string, number> = { ...counts };
  for (const key of keys) more[key] = (more[key] ?? 0) + 1;
  return more;
}

function addToBucket(buckets: readonly number[], ms: number): readonly number[] {
  const found = IN_QUEUE_BOUNDS_S.findIndex((bound) => ms <= bound * 1_000);
  const bucket = found === -1 ? IN_QUEUE_BOUNDS_S.length : found;
  return Array.from({ length: IN_QUEUE_BOUNDS_S.length + 1 }, (_, index) => {
    return (buckets[index] ?? 0) + (index === bucket ? 1 : 0);
  });
}

/** A candidate that took the result of another run has used no CI. */
export function runMs({ testingSince, sameTreeAs, pass, failure, endedAt }: Candidate): number {
  const isRun = pass === undefined ? sameTreeAs === undefined : pass.by === 'own_run' || pass.by === 'question';
  if (testingSince === undefined || !isRun) return 0;
  const end = pass?.at ?? failure?.at ?? endedAt ?? testingSince;
  return Math.max(0, end - testingSince);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
