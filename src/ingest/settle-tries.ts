import { groupByPath } from '../flaky/core/paths.ts';
import type { SuiteRepeats } from '../junit/junit-case.ts';
import type { ReadRun } from './read/read-run.ts';

const UNTOLD = {
  type: '',
  message: 'This try failed and was run again; the report has no message of it.',
  text: '',
};

/**
 * Treats the runs of one test as attempts if every name occurs once in its suite. Monitors count by it. The failure of
 * a check does not depend on it: a failed run has failed there, whatever the other attempts did.
 */
// SPEC F37, F58
export function settleTries(groups: ReadonlyMap<string, readonly ReadRun[]>): ReadonlyMap<string, readonly ReadRun[]> {
  const settled = new Map<string, readonly ReadRun[]>();
  for (const [id, runs] of groups) settled.set(id, runs.length < 2 ? runs : settleTest(runs));
  return settled;
}

function settleTest(runs: readonly ReadRun[]): readonly ReadRun[] {
  if (runs.every(({ repeats }) => repeats === null)) return runs;
  return [...Map.groupBy(runs, ({ repeats }) => repeats)].flatMap(([repeats, ofSuite]) =>
    repeats === null ? ofSuite : [...groupByPath(ofSuite).values()].flatMap((own) => settle(repeats, own)),
  );
}

function settle(repeats: SuiteRepeats, runs: readonly ReadRun[]): readonly ReadRun[] {
  if (runs.length < 2) return runs;
  return repeats.kind === 'go' ? settleGo(runs) : settlePytest(repeats, runs);
}

function settleGo(runs: readonly ReadRun[]): readonly ReadRun[] {
  if (!runs.some(({ conclusion }) => conclusion === 'SUCCESS')) return runs;
  return runs.map((run) => (run.conclusion === 'FAILURE' ? { ...run, rerunOf: 'SUCCESS' } : run));
}

/** pytest writes a failed and repeated run without marking it. Its suite then declares fewer tests than it holds. */
// SPEC F51
function settlePytest({ declared, cases }: SuiteRepeats, runs: readonly ReadRun[]): readonly ReadRun[] {
  const last = runs.at(-1);
  if (declared === null || cases <= declared || last === undefined || last.conclusion === 'SKIPPED') return runs;
  const rerunOf = last.conclusion;
  return runs.map((run) => {
    if (run === last || run.conclusion !== 'SUCCESS') return run;
    return { ...run, conclusion: 'FAILURE', rerunOf, failure: UNTOLD };
  });
}
