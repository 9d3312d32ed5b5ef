import { type Change, MINUTE_MS, PLAIN_CHANGE, type Workload } from '../../../src/policy/workload.ts';

/**
 * Builds a workload of changes that take ten minutes each. `given` overrides single properties; times are in minutes.
 */
export function workloadOf(
  given: readonly (Partial<Omit<Change, 'submittedAt' | 'durationMs'>> & { at?: number; takes?: number })[],
  flakeRate = 0,
): Workload {
  const changes = given.map(({ at = 0, takes = 10, ...rest }, index) => ({
    ...PLAIN_CHANGE,
    number: index + 1,
    submittedAt: at * MINUTE_MS,
    durationMs: takes * MINUTE_MS,
    ...rest,
  }));
  return { source: 'words', changes, chance: { seed: 'words', flakeRate, gitMs: 0 } };
}

/** Formats the map as `1@10 2@20`, ordered by time, in minutes. */
export function tell(decided: ReadonlyMap<number, number>): string {
  return [...decided].map(([number, at]) => `${number}@${at / MINUTE_MS}`).join(' ');
}
