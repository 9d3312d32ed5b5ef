import { type Change, MINUTE_MS, PLAIN_CHANGE, type Workload } from './workload.ts';

/** Changes that each take ten minutes: what is given is what is different about them. Times are in minutes. */
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

/** `1@10 2@20`: what is in the map, in order of time, in minutes. */
export function tell(decided: ReadonlyMap<number, number>): string {
  return [...decided].map(([number, at]) => `${number}@${at / MINUTE_MS}`).join(' ');
}
