import type { Instant } from '../lib/clock.ts';
import { pathsOf } from './core/paths.ts';
import type { RetryEvent } from './core/retry.ts';
import type { RunRef } from './core/run.ts';
import { isCovered, type QuarantinedFor } from './coverage.ts';
import { isFlakyBy } from './excuse.ts';
import type { PastRuns } from './replay.ts';

interface SeenTests {
  readonly uploadIds: readonly string[];
  readonly testNos: readonly number[];
  /** Those of them that did not run. */
  readonly skippedNos?: readonly number[];
}

export interface LastPass extends SeenTests {
  readonly isWhole: boolean;
  /** Something of it waits to be processed. */
  readonly isWaiting: boolean;
}

/** The results that are tied to the failed check. */
export interface FailureResults extends SeenTests {
  readonly isWhole: boolean;
  readonly problem: string | null;
  /** Uploads whose origin is not proven: they can only add failures, and are not among `uploadIds`. */
  readonly unprovenIds?: readonly string[];
  readonly failing: readonly {
    readonly testNo: number;
    readonly testId: string;
    readonly paths?: readonly (string | null)[];
  }[];
}

/** What is known of a test that failed. */
export interface FailedTest extends QuarantinedFor {
  readonly name: string;
  readonly quarantinedAt: Instant | null;
}

/** The uploads that may excuse a failure of a test. */
export interface TestEvidence {
  readonly past: readonly PastRuns[];
  /** Others show failures too, and their origin is not proven. */
  readonly hasUnproven: boolean;
}

export interface FailureFacts {
  /** Something that is tied to the check waits to be processed. */
  readonly isWaiting: boolean;
  /** Nothing more will come: whoever ran the check hands its results in before it says how it ended. */
  readonly isComplete: boolean;
  readonly results: FailureResults | undefined;
  /** Among the results may be those of an earlier run of this check of this test run. */
  readonly isOfSeveralRuns: boolean;
  /** The tests of the last pass of this check on the base; null: none is known. */
  readonly lastPass: LastPass | null;
  /** When the youngest of the pull requests was admitted. */
  readonly admittedAt: Instant;
  /** By id. */
  readonly tests: ReadonlyMap<string, FailedTest>;
  /** What shows that a test is flaky, by its id; undefined: nobody has looked yet, and all else is judged. */
  readonly evidence?: ReadonlyMap<string, TestEvidence>;
  /** More failing tests than this are no flakiness. */
  readonly maxFailing: number;
}

export interface FailureJudgement {
  /** open: more results may change the answer. */
  readonly kind: 'waived' | 'denied' | 'open';
  readonly reason: string;
  /** Those that are no excuse first. */
  readonly tests: readonly { readonly id: string; readonly name: string; readonly why?: string }[];
  readonly failing: number;
}

/**
 * Whether a failed check failed in nothing but tests that were known to be unreliable before these commits came. In doubt
 * it did not: whatever is missing, broken or younger than the commits is no excuse.
 */
export function judgeFailure(facts: FailureFacts): FailureJudgement {
  const { results, isComplete } = facts;
  const open = isComplete ? 'denied' : 'open';
  if (facts.isWaiting) return nothing('open', 'Its test results are still being processed.');
  if (results === undefined) return nothing(open, 'No test results were uploaded for this check of this test run.');
  const tests = results.failing.map((test) => judgeTest(test, facts));
  const bad = tests.filter(({ why }) => why !== undefined);
  const judged = (kind: FailureJudgement['kind'], reason: string): FailureJudgement => ({
    kind,
    reason,
    tests: [...bad, ...tests.filter(({ why }) => why === undefined)].slice(0, facts.maxFailing),
    failing: tests.length,
  });
  if (bad.length > 0) return judged('denied', sentenceOf(bad));
  if (tests.length > facts.maxFailing) return judged('denied', `More than ${facts.maxFailing} tests failed.`);
  if (!results.isWhole) return judged('denied', results.problem ?? 'A test report is not whole.');
  if (facts.isOfSeveralRuns) {
    return judged('denied', 'The check ran more than once, and its results may be those of an earlier run.');
  }
  if (results.uploadIds.length === 0) return judged(open, unprovenText('Its test results'));
  const gap = findGap(facts.lastPass, results);
  if (gap !== undefined) return judged(gap.isFinal ? 'denied' : open, gap.reason);
  if (tests.length === 0) return judged(open, 'No test failed in its results: something else did.');
  return judged('waived', `Only quarantined tests failed (${plural(tests.length, 'test')}).`);
}

/** What the last pass had, and these results do not have. A suite that was cut short shows in nothing else. */
function findGap(
  lastPass: LastPass | null,
  results: FailureResults,
): { readonly isFinal: boolean; readonly reason: string } | undefined {
  const final = (reason: string) => ({ isFinal: true, reason });
  const yet = (reason: string) => ({ isFinal: false, reason });
  if (lastPass === null) return final('No results of an earlier pass of this check are known to compare with.');
  if (lastPass.isWaiting) return yet('The results of the last pass of this check are still being processed.');
  if (lastPass.uploadIds.length === 0) return final(unprovenText('The results of the last pass of this check'));
  if (!lastPass.isWhole || lastPass.testNos.length === 0) {
    return final('The results of the last pass of this check are not whole: there is nothing to compare with.');
  }
  const missing = countMissing(lastPass, results);
  if (missing > 0) return yet(`${plural(missing, 'test')} of the last pass of this check did not run.`);
  const [before, now] = [lastPass.uploadIds.length, results.uploadIds.length];
  if (now >= before) return undefined;
  return yet(`The results of the last pass of this check came in ${before} uploads, these in ${now}.`);
}

function nothing(kind: FailureJudgement['kind'], reason: string): FailureJudgement {
  return { kind, reason, tests: [], failing: 0 };
}

const UNTOLD: readonly (string | null)[] = [null];

function judgeTest({ testId: id, paths = UNTOLD }: FailureResults['failing'][number], facts: FailureFacts) {
  const test = facts.tests.get(id);
  if (test === undefined) return { id, name: id, why: 'It is not known.' };
  const given = { by: facts.admittedAt, evidence: facts.evidence && (facts.evidence.get(id) ?? NO_EVIDENCE) };
  const why = paths.map((path) => whyNot(test, path, given)).find((each) => each !== undefined);
  return why === undefined ? { id, name: test.name } : { id, name: test.name, why };
}

const NO_EVIDENCE: TestEvidence = { past: [], hasUnproven: false };

interface Given {
  /** What came after the pull request may have come because of it. */
  readonly by: Instant;
  readonly evidence: TestEvidence | undefined;
}

function whyNot(test: FailedTest, path: string | null, given: Given): string | undefined {
  const { quarantinedAt } = test;
  if (quarantinedAt === null) return 'It is not quarantined.';
  if (quarantinedAt > given.by) return 'It was quarantined only after the pull request had been admitted.';
  if (isExcused(test, path, given)) return undefined;
  if (pathsOf(test.state).some(([other]) => isExcused(test, other, given))) {
    const suite = path === null || path === '' ? 'this suite' : `the suite "${path.slice(0, 200)}"`;
    return `Its id stands for tests in several suites, and what it is quarantined for was not seen in ${suite}.`;
  }
  if (given.evidence?.hasUnproven === true) {
    return `${unprovenText('What it is quarantined for')} It excuses no failure.`;
  }
  return 'What it is quarantined for was not seen before the admission on the target, or in test runs without these pull requests.';
}

/** By the word of a person, or by evidence that counts and is enough by itself. */
function isExcused(test: FailedTest, path: string | null, { by, evidence }: Given): boolean {
  if (isCovered(test, path, { by, isTheirs: () => true })) return true;
  if (evidence === undefined) return isCovered(test, path, { by, isTheirs: () => false });
  const { state, monitors } = test;
  if (!isFlakyBy(state, monitors, { past: evidence.past, by })) return false;
  // Stored runs do not tell their suite: what is remembered does.
  const isTheirs = pathsOf(state).length > 1 ? isNotOf(evidence) : () => false;
  return isCovered(test, path, { by, isTheirs });
}

function isNotOf({ past }: TestEvidence): (run: RunRef & Partial<Pick<RetryEvent, 'otherUploadId'>>) => boolean {
  const ids = new Set(past.map(({ upload }) => upload.id));
  return ({ uploadId, otherUploadId = null }) =>
    !ids.has(uploadId) || (otherUploadId !== null && !ids.has(otherUploadId));
}

/** As an upload with the scope `upload` alone: code of a pull request can read such a token. */
function unprovenText(what: string): string {
  return `${what} came only in uploads whose origin is not proven (see the scope evidence).`;
}

function sentenceOf([first, ...others]: readonly { readonly name: string; readonly why?: string }[]): string {
  const text = `${first?.name.slice(0, 200)}: ${first?.why}`;
  return others.length === 0 ? text : `${text} ${plural(others.length, 'other test')} failed likewise.`;
}

/** Where a run stops at the first failure, some list the rest as skipped: what ran then has to run now. */
function countMissing(expected: SeenTests, present: SeenTests): number {
  const seen = new Set(present.testNos);
  const [skippedBefore, skippedNow] = [new Set(expected.skippedNos), new Set(present.skippedNos)];
  const isMissing = (no: number) => !seen.has(no) || (skippedNow.has(no) && !skippedBefore.has(no));
  return expected.testNos.reduce((count, no) => (isMissing(no) ? count + 1 : count), 0);
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
