import type { Instant } from '../lib/clock.ts';

/** A pull request, with all that only the simulator knows of it. */
export interface Change {
  /** From 1, in the order of submission. */
  readonly number: number;
  readonly submittedAt: Instant;
  /** How long CI needs for it. A run that tests several takes as long as the longest of them. */
  readonly durationMs: number;
  readonly isBroken: boolean;
  /** It conflicts with the target as that was before anything landed. */
  readonly isUnmergeable: boolean;
  /** Earlier changes: with `breaksWith` in one tree, tests fail; with `conflictsWith`, there is no tree. */
  readonly breaksWith: number | undefined;
  readonly conflictsWith: number | undefined;
  /** Undefined: nobody said, which counts as everything. */
  readonly targets: readonly string[] | undefined;
}

export interface Workload {
  readonly source: string;
  /** In the order of submission; the change at index 0 has the number 1. */
  readonly changes: readonly Change[];
  readonly chance: Chance;
}

/** What strikes runs and not changes. */
export interface Chance {
  readonly seed: string;
  /** How often a run fails for no reason. */
  readonly flakeRate: number;
  /** How long git takes to build a commit, and again to land it. */
  readonly gitMs: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export const PLAIN_CHANGE: Omit<Change, 'number' | 'submittedAt' | 'durationMs'> = {
  isBroken: false,
  isUnmergeable: false,
  breaksWith: undefined,
  conflictsWith: undefined,
  targets: undefined,
};
