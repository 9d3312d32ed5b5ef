import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { isOfPath, pathsOf, wasKnown } from './core/paths.ts';
import type { RunRef } from './core/run.ts';
import type { TestState } from './core/state.ts';
import { isFlakyWithout } from './flaky-without.ts';

/** A quarantined test, with the reasons for its quarantine. */
export interface QuarantinedFor {
  readonly state: TestState;
  readonly monitors: readonly Monitor[];
  /** When a person set it to be always quarantined; null if no person did. */
  readonly alwaysSince: Instant | null;
}

export interface Excluded {
  /** Runs that are no evidence. */
  readonly isTheirs: (run: RunRef) => boolean;
  /** Later runs are no evidence either. */
  readonly by: Instant;
}

const NOTHING: Excluded = { isTheirs: () => false, by: Number.POSITIVE_INFINITY };

/**
 * Tells whether the quarantine covers a run of this path. A run without a path may belong to any path, so all must be
 * covered.
 */
export function isCovered(test: QuarantinedFor, path: string | null, excluded: Excluded = NOTHING): boolean {
  const known = pathsOf(test.state);
  if (path !== null) return coversPath(test, path, excluded);
  return known.length === 0 ? coversAny(test, excluded) : known.every(([each]) => coversPath(test, each, excluded));
}

function coversPath({ state, monitors, alwaysSince }: QuarantinedFor, path: string, excluded: Excluded): boolean {
  const { isTheirs, by } = excluded;
  const isDecided = (at: Instant | undefined | null) =>
    at !== undefined && at !== null && at <= by && wasKnown(state, path, at);
  if (isDecided(alwaysSince) || isDecided(state.flag?.at)) return true;
  const isNoEvidence = (run: RunRef) => isTheirs(run) || !isOfPath(state, run, path);
  return isFlakyWithout({ ...state, flag: null }, monitors, isNoEvidence, by);
}

function coversAny({ state, monitors, alwaysSince }: QuarantinedFor, { isTheirs, by }: Excluded): boolean {
  if (alwaysSince !== null && alwaysSince <= by) return true;
  return isFlakyWithout(state, monitors, isTheirs, by);
}
