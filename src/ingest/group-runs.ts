import type { ReadRun } from './read/read-run.ts';

/** Groups runs by test, in reading order. */
export function groupRuns(runs: readonly ReadRun[]): ReadonlyMap<string, readonly ReadRun[]> {
  const groups = new Map<string, ReadRun[]>();
  for (const run of runs) {
    const group = groups.get(run.testId);
    if (group === undefined) groups.set(run.testId, [run]);
    else group.push(run);
  }
  return groups;
}
