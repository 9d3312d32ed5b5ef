import type { TestRun } from './snapshot.ts';

/** Runs that stand on each other, the lowest first. Runs of different lanes do not wait for each other. */
export type Lane = readonly TestRun[];

/** In the order of their first runs. */
export function groupLanes(runs: readonly TestRun[]): readonly Lane[] {
  const lanes: { readonly numbers: Set<number>; readonly runs: TestRun[] }[] = [];
  for (const run of runs) {
    const numbers = numbersIn(run);
    // A run that stands on several lanes makes one of them.
    const [first, ...others] = lanes.filter((lane) => numbers.some((number) => lane.numbers.has(number)));
    const lane = first ?? { numbers: new Set<number>(), runs: [] };
    if (first === undefined) lanes.push(lane);
    for (const other of others) {
      for (const number of other.numbers) lane.numbers.add(number);
      lane.runs.push(...other.runs);
      lanes.splice(lanes.indexOf(other), 1);
    }
    for (const number of numbers) lane.numbers.add(number);
    lane.runs.push(run);
  }
  return lanes.map((lane) => lane.runs);
}

function numbersIn({ testedPullRequests, dependentPrs = [] }: TestRun): number[] {
  return [...testedPullRequests.map(({ prNumber }) => prNumber), ...dependentPrs];
}
