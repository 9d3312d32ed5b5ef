import type { Conclusion } from '../../flaky/core/run.ts';
import type { FailureText } from '../../flaky/failure-group.ts';
import { suitePathOf } from '../../flaky/identity/test-id.ts';
import { type JunitCase, type JunitRerun, type JunitStatus, toldMessage } from '../../junit/junit-case.ts';
import type { Instant } from '../../lib/clock.ts';
import { ownText } from './read-limits.ts';
import { type ReadRun, runTime } from './read-run.ts';
import type { IdentifyTest, KnownName } from './test-name-cache.ts';

export interface CaseSources {
  readonly identify: IdentifyTest;
  readonly receivedAt: Instant;
  readonly ownersOf: (file: string) => readonly string[];
  /** `reruns`: only the runs that a list of runs lacks. `cases`: only those that it would have. */
  readonly take: 'all' | 'cases' | 'reruns';
}

const CONCLUSIONS: Readonly<Record<JunitStatus, Conclusion>> = {
  success: 'SUCCESS',
  failure: 'FAILURE',
  skipped: 'SKIPPED',
};

/** Adds the runs of a case, earlier failed attempts first. */
// SPEC J4
export function addCaseRuns(runs: ReadRun[], test: JunitCase, sources: CaseSources): void {
  const { take, receivedAt } = sources;
  const hasReruns = test.reruns.length > 0 && take !== 'cases';
  if (!hasReruns && take === 'reruns') return;
  const known = sources.identify({
    file: test.file ?? '',
    classname: test.classname ?? '',
    parent: test.suite,
    name: test.name,
    infoId: test.id ?? '',
  });
  const codeOwners = sources.ownersOf(known.names.file);
  const path = suitePathOf(test.suites);
  if (hasReruns) {
    for (const rerun of test.reruns) runs.push(rerunOf(test, rerun, { known, codeOwners, receivedAt, path }));
  }
  if (take === 'reruns') return;
  const conclusion = CONCLUSIONS[test.status];
  runs.push({
    testId: known.testId,
    names: known.names,
    conclusion,
    startedAt: runTime(test.timestampAt, receivedAt),
    durationMs: test.durationMs,
    attempt: test.attempt?.value ?? null,
    rerunOf: null,
    path,
    repeats: test.repeats,
    failure: conclusion === 'FAILURE' ? failureText(test.outcome) : null,
    codeOwners,
  });
}

function rerunOf(
  test: JunitCase,
  rerun: JunitRerun,
  of: {
    readonly known: KnownName;
    readonly codeOwners: readonly string[];
    readonly receivedAt: Instant;
    readonly path: string;
  },
): ReadRun {
  return {
    testId: of.known.testId,
    names: of.known.names,
    conclusion: 'FAILURE',
    startedAt: runTime(rerun.timestampAt ?? test.timestampAt, of.receivedAt),
    durationMs: rerun.durationMs,
    attempt: null,
    rerunOf: test.status === 'success' ? 'SUCCESS' : 'FAILURE',
    path: of.path,
    repeats: null,
    failure: failureText(rerun),
    codeOwners: of.codeOwners,
  };
}

const NO_TEXT: FailureText = { type: '', message: '', text: '' };

function failureText(
  said: { readonly type: string | null; readonly message: string | null; readonly text: string } | null,
): FailureText {
  if (said === null) return NO_TEXT;
  return { type: ownText(said.type ?? ''), message: ownText(toldMessage(said)), text: ownText(said.text) };
}
