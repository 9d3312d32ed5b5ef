import type { Candidate } from '../engine/model/candidate.ts';
import type { Check } from '../engine/model/check.ts';
import { type Excuse, type Judged, quarantineVerdictOf } from '../engine/model/judgement.ts';
import { appFor } from '../engine/model/required.ts';
import { present } from '../lib/present.ts';
import { type ExplanationReason, type FailedCheck, type FailedTest, reason } from './explanation.ts';
import { clockTime, count } from './phrases.ts';

/** The details of the test run list all of them. */
const NAMED = 5;

// SPEC E23
export function failureReasons(failed: readonly FailedCheck[]): ExplanationReason[] {
  return failed
    .filter(({ isWaived }) => !isWaived)
    .map((check) => {
      const { name, url, tests } = check;
      const about = { check: name, ...present({ url }) };
      const named = tests.slice(0, NAMED).map((test) => reason(CODES[test.kind], failedTestText(test)));
      const more = Math.max(check.failing, tests.length) - named.length;
      const rest = more > 0 ? [reason('AND_MORE', `${count(more, 'more test')} failed.`)] : [];
      return reason('CHECK_FAILED', failedCheckText(check), about, [...named, ...rest]);
    });
}

const CODES: { readonly [Kind in FailedTest['kind']]: string } = {
  failed: 'TEST_FAILED',
  flaky: 'TEST_FLAKY',
  broken: 'TEST_BROKEN',
  quarantined: 'TEST_QUARANTINED',
};

function failedCheckText({ name, conclusion, hasBegun, failing, summary }: FailedCheck): string {
  const said = summary === undefined || summary.trim() === '' ? '' : `: ${summary.trim()}`;
  const tests = said === '' && failing > 0 ? `: ${count(failing, 'test')} failed` : said;
  const what = conclusion === undefined ? (hasBegun ? 'did not finish in time' : 'never reported') : VERBS[conclusion];
  return `${name} ${what}${tests}${/[.!?]$/.test(tests) ? '' : '.'}`;
}

/** "ci was cancelled" */
export const VERBS: { readonly [Conclusion in NonNullable<FailedCheck['conclusion']>]: string } = {
  SUCCESS: 'passed',
  FAILURE: 'failed',
  ERROR: 'ended with an error',
  CANCELLED: 'was cancelled',
  TIMED_OUT: 'timed out',
  STALE: 'was given up by the forge',
  ACTION_REQUIRED: 'needs somebody to act',
  SKIPPED: 'was skipped',
  NEUTRAL: 'ended as neutral',
};

const KINDS: { readonly [Kind in FailedTest['kind']]: string } = {
  failed: '',
  flaky: ' It is known to be flaky.',
  broken: ' It is known to be broken.',
  quarantined: ' It is quarantined.',
};

/** "checkout adds up failed. Elsewhere it failed in 3 of 212 runs of the last 7 days, in 2 pull requests." */
function failedTestText({ name, kind, lately }: FailedTest): string {
  return `${name} failed.${KINDS[kind]}${lately === undefined ? '' : ` ${latelyText(lately)}`}`;
}

export function latelyText({ runs, failures, prs }: NonNullable<FailedTest['lately']>): string {
  const inPrs = prs === 0 ? '' : `, in ${count(prs, 'pull request')}`;
  return `In the last 7 days it failed in ${failures} of ${count(runs, 'run')}${inPrs}.`;
}

/** Only tests failed that are known to fail at random, or are quarantined: a fix is no good advice. */
export function isHopeful(failed: readonly FailedCheck[]): boolean {
  const isKnown = ({ isWaived, failing, tests }: FailedCheck) =>
    isWaived || (failing > 0 && failing === tests.length && tests.every(({ kind }) => kind !== 'failed'));
  return failed.length > 0 && failed.every(isKnown);
}

export function judgementReasons({ checks, number: testRun }: Candidate): ExplanationReason[] {
  return checks.flatMap(({ name: check, conclusion, judgement }) => {
    if (judgement?.kind !== 'judged' || isUnreported(judgement)) return [];
    const about = { check, testRun, since: judgement.at };
    const text = judgementText({ name: check, conclusion }, judgement);
    return [reason(quarantineVerdictOf(judgement), text, about, testReasons(judgement))];
  });
}

/** A shadow verdict without a report would only tell of a feature that the team does not use. */
function isUnreported({ isShadow, isWaived, tests, failing }: Judged): boolean {
  return isShadow && !isWaived && tests.length === 0 && failing === 0;
}

function judgementText({ name: check, conclusion }: Pick<Check, 'name' | 'conclusion'>, judged: Judged): string {
  const { isShadow, isWaived, isRepeat, reason: why, tests } = judged;
  if (isRepeat) {
    const would = isShadow ? '(Administrators: honorQuarantine ON would have repeated it.)' : 'It is repeated.';
    return `${check} failed only in flaky tests. ${would} ${why}`;
  }
  if (conclusion === 'SUCCESS')
    return isWaived ? `${check} passed. ${why}` : `${check} passed, but does not count. ${why}`;
  if (isShadow && isWaived) {
    const which = tests.length === 1 ? `the quarantined test ${tests[0]?.name}` : 'quarantined tests';
    return `${check} failed only in ${which}. (Administrators: honorQuarantine ON would have let it pass.)`;
  }
  if (isShadow) return `Quarantine would not have excused the failure of ${check}. ${why}`;
  return isWaived ? `The failure of ${check} is waived. ${why}` : `The failure of ${check} is not waived. ${why}`;
}

const EXCUSES: { readonly [Kind in Excuse['kind']]: string } = {
  person: 'is quarantined',
  run: 'passed in another run of the same tree',
  check: 'the check passed in spite of it',
};

function testReasons({ tests, failing }: Judged): ExplanationReason[] {
  const named = tests
    .slice(0, NAMED)
    .map(({ name, suites, why, excusedBy }) =>
      why === undefined
        ? reason(
            'TEST_QUARANTINED',
            `${name} failed${suites === undefined ? '' : ` in ${suites.join(', ')}`}, and ${EXCUSES[excusedBy?.kind ?? 'person']}.`,
          )
        : reason('TEST_FAILED', `${name} failed. ${why}`),
    );
  const more = failing - named.length;
  return more <= 0 ? named : [...named, reason('AND_MORE', `${count(more, 'more test')} failed.`)];
}

/** Every failed check failed only in quarantined tests, but the queue does not honor quarantine. */
export function isOnlyShadowed(candidate: Candidate): boolean {
  const blamed = blamedIn(candidate);
  return (
    blamed.length > 0 &&
    blamed.every(({ judgement }) => judgement?.kind === 'judged' && judgement.isShadow && judgement.isWaived)
  );
}

function blamedIn({ checks, failure }: Candidate): readonly Check[] {
  return checks.filter(({ name }) => failure?.checks.includes(name));
}

/** The names of the quarantined tests that failed. */
export function shadowedTests(candidate: Candidate): readonly string[] {
  return blamedIn(candidate).flatMap(({ judgement }) =>
    judgement?.kind === 'judged' ? judgement.tests.map(({ name }) => name) : [],
  );
}

export function openReason({ checks, required, number: testRun }: Candidate, check: string): ExplanationReason {
  const { judgement, conclusion } = checks.find(({ name }) => name === check) ?? {};
  if (judgement?.kind !== 'awaited') {
    const app = required && appFor(required, check);
    const only = app === undefined ? '' : ` It counts only when the app ${app} reports it.`;
    return reason('CHECK_OPEN', `${check} has not reported a result yet.${only}`, { check, testRun });
  }
  const until = clockTime(judgement.until);
  const text =
    conclusion === 'SUCCESS'
      ? `${check} passed. Sluice reads its test reports, until ${until} at the latest.`
      : `${check} failed. Sluice waits until ${until} for its test report, which may show that only quarantined tests failed.`;
  return reason('JUDGEMENT_OPEN', text, { check, testRun });
}
