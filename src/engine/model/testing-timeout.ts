import { percentile } from '../../lib/percentile.ts';
import type { Candidate } from './candidate.ts';
import type { Learned } from './learned.ts';
import type { Queue } from './queue.ts';

/** Holds while too few runs have passed. Version 0.2.0 stores it where nothing was set. */
export const FIRST_TIMEOUT_MINUTES = 300;
const LEAST_PASSES = 20;
const PERCENT = 95;
const TIMES = 4;
const LEAST_MINUTES = 10;
const MOST_MINUTES = 10_080;

/** The automatic timeout in minutes; undefined while too few runs have passed. */
// SPEC V77
export function automaticTimeout({ passSeconds }: Learned): number | undefined {
  if (passSeconds.length < LEAST_PASSES) return undefined;
  const slow = percentile(
    passSeconds.toSorted((a, b) => a - b),
    PERCENT,
  );
  return Math.min(MOST_MINUTES, Math.max(LEAST_MINUTES, Math.ceil((TIMES * (slow ?? 0)) / 60)));
}

/**
 * The testing timeout of a queue in minutes; 0 waits forever. Without a setting, a run keeps the timeout that its tests
 * began with: it must not be overdue because others got faster.
 */
// SPEC V77, V78
export function testingTimeout({ settings, learned }: Pick<Queue, 'settings' | 'learned'>, run?: Candidate): number {
  const automatic = run === undefined ? automaticTimeout(learned) : run.timeoutMinutes;
  const minutes = settings.testingTimeoutMinutes ?? automatic ?? FIRST_TIMEOUT_MINUTES;
  return run?.question === undefined ? minutes : Math.min(minutes || Number.POSITIVE_INFINITY, probeTimeout(learned));
}

/** A probe that takes as long as a run of all tests saves nothing. */
// SPEC B25
function probeTimeout({ durationMs }: Learned): number {
  return Math.max(LEAST_MINUTES, Math.ceil((durationMs ?? 0) / 60_000));
}
