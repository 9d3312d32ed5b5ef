import type { Instant } from '../lib/clock.ts';
import { counted } from './core/detector.ts';
import type { Monitor } from './core/monitor.ts';
import { inSuites, pathsOf, suiteNameOf } from './core/paths.ts';
import type { RetryEvent } from './core/retry.ts';
import type { RunRef } from './core/run.ts';
import type { TestState } from './core/state.ts';
import { isCovered, isDecidedFor, type QuarantinedFor } from './coverage.ts';
import { type PastRuns, replay } from './replay.ts';

interface SeenTests {
  readonly uploadIds: readonly string[];
  readonly testNos: readonly number[];
  /** The tests among `testNos` that were skipped. */
  readonly skippedNos?: readonly number[];
}

export interface LastPass extends SeenTests {
  readonly isWhole: boolean;
  /** An upload of it is still unprocessed. */
  readonly isWaiting: boolean;
}

/** The results that belong to the failed check. */
export interface FailureResults extends SeenTests {
  readonly isWhole: boolean;
  readonly problem: string | null;
  /** Uploads whose origin is not proven. They can only add failures, and are not among `uploadIds`. */
  readonly unprovenIds?: readonly string[];
  readonly failing: readonly {
    readonly testNo: number;
    readonly testId: string;
    readonly paths?: readonly (string | null)[];
  }[];
}

/** A failed test as the store knows it. */
export interface FailedTest extends QuarantinedFor {
  readonly name: string;
  /** The outermost suite. */
  readonly parent: string | null;
  readonly quarantinedAt: Instant | null;
}

/** The uploads that may waive a failure of a test. */
export interface TestEvidence {
  readonly past: readonly PastRuns[];
  /** Other uploads show failures too, but their origin is not proven. */
  readonly hasUnproven: boolean;
}

export interface FailureFacts {
  /** An upload of this check is still unprocessed. */
  readonly isWaiting: boolean;
  /** No more results will come: the runner uploads them before it reports the check's result. */
  readonly isComplete: boolean;
  readonly results: FailureResults | undefined;
  /** The results may include those of an earlier run of this check on this candidate. */
  readonly isOfSeveralRuns: boolean;
  /** The tests of the last pass of this check on the base; null: no pass is known. */
  readonly lastPass: LastPass | null;
  /** Admission time of the youngest pull request. */
  readonly admittedAt: Instant;
  /** By id. */
  readonly tests: ReadonlyMap<string, FailedTest>;
  /** The evidence for flakiness by test id; undefined: it was not read yet, and only the rest is judged. */
  readonly evidence?: ReadonlyMap<string, TestEvidence>;
  /** More failing tests than this are no flakiness. */
  readonly maxFailing: number;
}

export interface FailureJudgement {
  /** open: more results may change the answer. */
  readonly kind: 'waived' | 'denied' | 'open';
  readonly reason: string;
  /** Tests that do not excuse the failure come first. */
  readonly tests: readonly JudgedTest[];
  readonly failing: number;
}

interface JudgedTest {
  readonly id: string;
  readonly name: string;
  /** The suites in which it failed, at most 10; absent if one of them is not known. */
  readonly suites?: readonly string[];
  readonly why?: string;
}

/**
 * Tells whether a check failed only in tests that were known to be unreliable before these commits came. The answer in
 * doubt is no: missing or broken results, and facts younger than the commits, excuse nothing.
 */
// SPEC V15, V51
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
  return judged('waived', `Only quarantined tests failed (${counted(tests.length, 'test')}).`);
}

/** Compares with the last pass: missing tests are the only sign of a suite that was cut short. */
// SPEC V50
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
  if (missing > 0) return yet(`${counted(missing, 'test')} of the last pass of this check did not run.`);
  const [before, now] = [lastPass.uploadIds.length, results.uploadIds.length];
  if (now >= before) return undefined;
  return yet(`The results of the last pass of this check came in ${before} uploads, these in ${now}.`);
}

function nothing(kind: FailureJudgement['kind'], reason: string): FailureJudgement {
  return { kind, reason, tests: [], failing: 0 };
}

const UNTOLD: readonly (string | null)[] = [null];

// SPEC V65
function judgeTest({ testId: id, paths = UNTOLD }: FailureResults['failing'][number], facts: FailureFacts): JudgedTest {
  const test = facts.tests.get(id);
  if (test === undefined) return { id, name: id, why: 'It is not known.' };
  const given = { by: facts.admittedAt, evidence: facts.evidence && (facts.evidence.get(id) ?? NO_EVIDENCE) };
  const why = paths.map((path) => whyNot(test, path, given)).find((each) => each !== undefined);
  const suites = suitesOf(test, paths);
  return { id, name: test.name, ...(suites !== undefined && { suites }), ...(why !== undefined && { why }) };
}

/** Bounds the size of a stored judgement. */
const MAX_SUITES = 10;

/** The names of the suites, at most 10; undefined if one of them is not known. */
export function suitesOf(
  { parent }: Pick<FailedTest, 'parent'>,
  paths: readonly (string | null)[] = UNTOLD,
): readonly string[] | undefined {
  if (paths.includes(null)) return undefined;
  return paths.slice(0, MAX_SUITES).map((path) => suiteNameOf(parent, path as string));
}

const NO_EVIDENCE: TestEvidence = { past: [], hasUnproven: false };

interface Given {
  /** Later facts may be caused by the pull request itself. */
  readonly by: Instant;
  readonly evidence: TestEvidence | undefined;
}

function whyNot(test: FailedTest, path: string | null, given: Given): string | undefined {
  const { quarantinedAt } = test;
  if (quarantinedAt === null) return 'It is not quarantined.';
  if (quarantinedAt > given.by) return 'It was quarantined only after the pull request had been admitted.';
  if (isExcused(test, path, given)) return undefined;
  if (isDecidedFor(test, path, given.by) === false) return whyOutside(test, path);
  if (pathsOf(test.state).some(([other]) => isExcused(test, other, given))) {
    const suite = path === null || path === '' ? 'this suite' : `the suite "${path.slice(0, 200)}"`;
    return `Its id stands for tests in several suites, and what it is quarantined for was not seen in ${suite}.`;
  }
  if (given.evidence?.hasUnproven === true) {
    return `${unprovenText('What it is quarantined for')} It excuses no failure.`;
  }
  return 'What it is quarantined for was not seen before the admission on the target, or in test runs without these pull requests.';
}

function whyOutside({ parent, quarantine }: FailedTest, path: string | null): string {
  const named = quarantine.by === 'person' ? quarantine.suites.map((each) => suiteNameOf(parent, each)) : [];
  const where = inSuites(named) || ' since before any results named its suite';
  const failed = path === null ? ' in a suite that is not known' : inSuites([suiteNameOf(parent, path)]);
  return `It is quarantined${where}, and failed${failed}.`;
}

/** By a person's decision, or by evidence that counts and suffices on its own. */
// SPEC V52
function isExcused(test: FailedTest, path: string | null, { by, evidence }: Given): boolean {
  if (isCovered(test, path, { by, isTheirs: () => true })) return true;
  if (evidence === undefined) return isCovered(test, path, { by, isTheirs: () => false });
  const { state, monitors } = test;
  if (!isFlakyBy(state, monitors, { past: evidence.past, by })) return false;
  // Stored runs do not carry their suite path; the test's state does.
  const isTheirs = pathsOf(state).length > 1 ? isNotOf(evidence) : () => false;
  return isCovered(test, path, { by, isTheirs });
}

function isNotOf({ past }: TestEvidence): (run: RunRef & Partial<Pick<RetryEvent, 'otherUploadId'>>) => boolean {
  const ids = new Set(past.map(({ upload }) => upload.id));
  return ({ uploadId, otherUploadId = null }) =>
    !ids.has(uploadId) || (otherUploadId !== null && !ids.has(otherUploadId));
}

/** An upload with the scope `upload` alone is one of these: code of a pull request can read such a token. */
function unprovenText(what: string): string {
  return `${what} came only in uploads whose origin is not proven (see the scope evidence).`;
}

function sentenceOf([first, ...others]: readonly { readonly name: string; readonly why?: string }[]): string {
  const text = `${first?.name.slice(0, 200)}: ${first?.why}`;
  return others.length === 0 ? text : `${text} ${counted(others.length, 'other test')} failed likewise.`;
}

/**
 * Some frameworks stop at the first failure and list the rest as skipped. A test that ran in the last pass must run
 * now.
 */
function countMissing(expected: SeenTests, present: SeenTests): number {
  const seen = new Set(present.testNos);
  const [skippedBefore, skippedNow] = [new Set(expected.skippedNos), new Set(present.skippedNos)];
  const isMissing = (no: number) => !seen.has(no) || (skippedNow.has(no) && !skippedBefore.has(no));
  return expected.testNos.reduce((count, no) => (isMissing(no) ? count + 1 : count), 0);
}

/**
 * Tells whether these uploads alone made the test flaky at that time. Evidence from anywhere else, such as the commits
 * under test, excuses no failure.
 */
// SPEC F23
export function isFlakyBy(
  state: TestState,
  monitors: readonly Monitor[],
  { past, by }: { readonly past: readonly PastRuns[]; readonly by: Instant },
): boolean {
  const speaking = monitors.filter((monitor) => callsFlaky(state, monitor, by));
  if (speaking.length === 0) return false;
  const upTo = past.flatMap((batch) => {
    const runs = batch.runs.filter(({ startedAt }) => startedAt <= by);
    return batch.at <= by && runs.length > 0 ? [{ ...batch, runs }] : [];
  });
  const replayed = replay(state, speaking, { past: upTo, by });
  return speaking.some(({ id }) => (replayed.monitors[id]?.activeSince ?? null) !== null);
}

function callsFlaky(state: TestState, { id, enabled, action }: Monitor, by: Instant): boolean {
  const own = state.monitors[id];
  if (!enabled || action.kind !== 'classify' || action.status !== 'FLAKY' || own === undefined) return false;
  return own.activeSince !== null && own.activeSince <= by && own.mute === null;
}
