import type { CheckResults, FailingTest } from './test-ingest.ts';

/** Combines the results of several uploads, or several parts of one, for one check. */
export function mergeResults(before: CheckResults | undefined, added: CheckResults): CheckResults {
  if (before === undefined) return added;
  const failing = new Map<number, FailingTest>();
  for (const test of [...before.failing, ...added.failing]) {
    const known = failing.get(test.testNo);
    failing.set(test.testNo, known === undefined ? test : mergePaths(known, test));
  }
  const testNos = ascending([...before.testNos, ...added.testNos]);
  const ran = new Set([...ranIn(before), ...ranIn(added)]);
  const { skippedNos: _skipped, ...more } = added;
  const skippedNos = testNos.filter((no) => !ran.has(no));
  return {
    ...more,
    isWhole: before.isWhole && added.isWhole,
    problem: before.problem ?? added.problem,
    uploadIds: [...new Set([...before.uploadIds, ...added.uploadIds])],
    testNos,
    ...(skippedNos.length > 0 && { skippedNos }),
    failing: ascending([...failing.keys()]).map((no) => failing.get(no) as FailingTest),
    at: Math.max(before.at, added.at),
  };
}

function mergePaths(one: FailingTest, other: FailingTest): FailingTest {
  if (one.paths === undefined && other.paths === undefined) return other;
  return { ...other, paths: [...new Set([...(one.paths ?? [null]), ...(other.paths ?? [null])])] };
}

function ranIn({ testNos, skippedNos }: CheckResults): readonly number[] {
  const skipped = new Set(skippedNos);
  return testNos.filter((no) => !skipped.has(no));
}

function ascending(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}
