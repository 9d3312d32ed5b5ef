import type { ReadRun } from './read/read-run.ts';

/** The runs of each test, in the order in which they were read. */
export function groupRuns(runs: readonly ReadRun[]): ReadonlyMap<string, readonly ReadRun[]> {
  const groups = new Map<string, ReadRun[]>();
  for (const run of runs) {
    const group = groups.get(run.testId);
    if (group === undefined) groups.set(run.testId, [run]);
    else group.push(run);
  }
  return groups;
}
