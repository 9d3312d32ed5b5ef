import type { Instant } from '../lib/clock.ts';

/** A pull request, with facts that only the simulator knows. */
export interface Change {
  /** From 1, in order of submission. */
  readonly number: number;
  readonly submittedAt: Instant;
  /** How long CI needs for it. A run of several changes takes as long as the longest one. */
  readonly durationMs: number;
  readonly isBroken: boolean;
  /** It conflicts with the initial head of the target branch. */
  readonly isUnmergeable: boolean;
  /** Earlier changes. In one tree with `breaksWith`, tests fail. With `conflictsWith`, the tree cannot be built. */
  readonly breaksWith: number | undefined;
  readonly conflictsWith: number | undefined;
  /** An earlier change. Tests fail in a tree without it. */
  readonly needs: number | undefined;
  /** Undefined: no targets uploaded, which counts as impacting everything. */
  readonly targets: readonly string[] | undefined;
}

export interface Workload {
  readonly source: string;
  /** In order of submission. The change at index 0 has the number 1. */
  readonly changes: readonly Change[];
  readonly chance: Chance;
}

/** Random effects on runs, independent of the changes. */
export interface Chance {
  readonly seed: string;
  /** How often a run fails without a reason. */
  readonly flakeRate: number;
  /** Reports name the tests that failed. How often they name only the first one, because the suite stopped. */
  readonly maskRate?: number;
  /** CI can run single tests, in this share of the time of a run. */
  readonly probeShare?: number;
  /** How long git needs to build a commit, and again to land it. */
  readonly gitMs: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export const PLAIN_CHANGE: Omit<Change, 'number' | 'submittedAt' | 'durationMs'> = {
  isBroken: false,
  isUnmergeable: false,
  breaksWith: undefined,
  conflictsWith: undefined,
  needs: undefined,
  targets: undefined,
};
