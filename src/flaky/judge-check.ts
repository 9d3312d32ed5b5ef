import type { Instant } from '../lib/clock.ts';
import { counted } from './core/detector.ts';
import { inSuites, pathsOf, suiteNameOf } from './core/paths.ts';
import { isDecidedFor, type QuarantinedFor } from './coverage.ts';

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

/** The results that belong to one check of one run. */
export interface RunResults extends SeenTests {
  readonly isWhole: boolean;
  readonly problem: string | null;
  readonly failing: readonly FailingTest[];
}

interface FailingTest {
  readonly testNo: number;
  readonly testId: string;
  readonly paths?: readonly (string | null)[];
}

/** A failed test as the store knows it. */
export interface FailedTest extends QuarantinedFor {
  readonly name: string;
  /** The outermost suite. */
  readonly parent: string | null;
  readonly quarantinedAt: Instant | null;
  /** It was quarantined because of its status at some time since the run was planned, and no person decided. */
  readonly isAutomatic: boolean;
  /** The person whose decision quarantines it, if one does. */
  readonly decidedBy?: string;
}

/** Another run of the same tree, check and command. */
export interface OtherRun {
  readonly candidate: number;
  readonly results: RunResults;
}

export interface CheckFacts {
  readonly conclusion: 'SUCCESS' | 'FAILURE';
  /** An upload of this check is still unprocessed. */
  readonly isWaiting: boolean;
  /** No more results are waited for. The runner uploads them before it reports the check's result. */
  readonly isComplete: boolean;
  readonly results: RunResults | undefined;
  /** The results may include those of an earlier run of this check on this candidate. */
  readonly isOfSeveralRuns: boolean;
  /** The tests of the last pass of this check on the base; null: no pass is known. */
  readonly lastPass: LastPass | null;
  readonly others: readonly OtherRun[];
  /** How often the candidate may still be repeated. */
  readonly repetitionsLeft: number;
  /** Admission time of the youngest pull request. */
  readonly admittedAt: Instant;
  /** By id. */
  readonly tests: ReadonlyMap<string, FailedTest>;
  /** More failing tests than this are no flakiness. */
  readonly maxFailing: number;
}

interface JudgedTest {
  readonly id: string;
  readonly name: string;
  /** The suites in which it failed, at most 10; absent if one of them is not known. */
  readonly suites?: readonly string[];
  readonly why?: string;
  readonly excusedBy?:
    | { readonly kind: 'person'; readonly name?: string }
    | { readonly kind: 'run'; readonly candidate: number }
    | { readonly kind: 'check' };
}

export interface CheckJudgement {
  /** open: more results may change the answer. repeat: another run of the tree may. */
  readonly kind: 'excused' | 'repeat' | 'denied' | 'open';
  readonly reason: string;
  /** Tests that are not excused come first. */
  readonly tests: readonly JudgedTest[];
  readonly failing: number;
}

/**
 * Tells what quarantine makes of the failed tests of a check. A person's quarantine excuses them. Automatic quarantine
 * rests on reports, which code under test writes: it is a right to be repeated, and excuses a test that passed in
 * another run of the tree.
 */
export function judgeCheck(facts: CheckFacts): CheckJudgement {
  if (facts.isWaiting) return nothing('open', 'Its test results are still being processed.');
  return facts.conclusion === 'SUCCESS' ? judgePass(facts) : judgeFailure(facts);
}

/**
 * A check may pass although tests failed, because its uploader ignores quarantined ones. Tests that are not quarantined
 * are the business of the check.
 */
// SPEC V55
function judgePass(facts: CheckFacts): CheckJudgement {
  const { results, lastPass } = facts;
  const isMissing = (results?.uploadIds.length ?? 0) < Math.max(1, lastPass?.uploadIds.length ?? 1);
  if (isMissing && !facts.isComplete) return nothing('open', 'Its test results have not arrived.');
  if (results === undefined) return nothing('excused', '');
  const tests = results.failing.map((failed) => {
    const { id, test, ...named } = nameOf(failed, facts);
    if (test !== undefined && isByPerson(test, failed, Number.POSITIVE_INFINITY))
      return excused({ id, ...named }, test);
    if (test !== undefined && (test.isAutomatic || test.quarantinedAt !== null)) {
      return excusedByRun({ id, ...named }, failed, test, facts);
    }
    return { id, ...named, excusedBy: { kind: 'check' as const } };
  });
  return conclude(facts, tests, 'Tests failed in its reports, and each is excused');
}

/**
 * The answer in doubt is no: missing or broken results, and decisions younger than the commits, excuse nothing.
 */
// SPEC V15, V51
function judgeFailure(facts: CheckFacts): CheckJudgement {
  const { results, isComplete, maxFailing } = facts;
  const open = isComplete ? 'denied' : 'open';
  if (results === undefined) return nothing(open, 'No test results were uploaded for this check of this test run.');
  const tests = results.failing.map((failed) => judgeTest(failed, facts));
  const judged = (kind: CheckJudgement['kind'], reason: string) => judgementOf(kind, reason, tests, maxFailing);
  const bad = tests.filter(({ why, isRepeatable }) => why !== undefined && !isRepeatable);
  if (bad.length > 0) return judged('denied', sentenceOf(bad));
  if (tests.length > maxFailing) return judged('denied', `More than ${maxFailing} tests failed.`);
  const gap = findGap(facts.lastPass, results);
  if (gap?.isFinal === false && !isComplete) return judged('open', gap.reason);
  if (tests.some(({ why }) => why !== undefined)) return conclude(facts, tests, '');
  if (!results.isWhole) return judged('denied', results.problem ?? 'A test report is not whole.');
  if (facts.isOfSeveralRuns) {
    return judged('denied', 'The check ran more than once, and its results may be those of an earlier run.');
  }
  if (gap !== undefined) return judged('denied', gap.reason);
  if (tests.length === 0) return judged(open, 'No test failed in its results: something else did.');
  return conclude(facts, tests, 'Only quarantined tests failed');
}

interface Judging extends JudgedTest {
  readonly isRepeatable?: true;
}

// SPEC V56
function conclude(facts: CheckFacts, tests: readonly Judging[], text: string): CheckJudgement {
  const { maxFailing, others, repetitionsLeft } = facts;
  const unpassed = tests.filter(({ why }) => why !== undefined);
  const reason = `${text} (${counted(tests.length, 'test')}).`;
  if (unpassed.length === 0) return judgementOf('excused', tests.length === 0 ? '' : reason, tests, maxFailing);
  if (repetitionsLeft > 0) return judgementOf('repeat', sentenceOf(unpassed), tests, maxFailing);
  const runs = counted(others.length + 1, 'run');
  const final = tests.map((test) =>
    test.why === undefined ? test : { ...test, why: `It is flaky, and passed in none of ${runs} of this tree.` },
  );
  return judgementOf('denied', sentenceOf(final.filter(({ why }) => why !== undefined)), final, maxFailing);
}

function judgementOf(
  kind: CheckJudgement['kind'],
  reason: string,
  tests: readonly Judging[],
  maxFailing: number,
): CheckJudgement {
  const sorted = tests.toSorted((a, b) => Number(a.why === undefined) - Number(b.why === undefined));
  const shown = sorted.slice(0, maxFailing).map(({ isRepeatable: _, ...test }) => test);
  return { kind, reason, tests: shown, failing: tests.length };
}

function nothing(kind: CheckJudgement['kind'], reason: string): CheckJudgement {
  return { kind, reason, tests: [], failing: 0 };
}

/** Compares with the last pass: missing tests are the only sign of a suite that was cut short. */
// SPEC V50
function findGap(
  lastPass: LastPass | null,
  results: RunResults,
): { readonly isFinal: boolean; readonly reason: string } | undefined {
  const final = (reason: string) => ({ isFinal: true, reason });
  const yet = (reason: string) => ({ isFinal: false, reason });
  if (lastPass === null) return final('No results of an earlier pass of this check are known to compare with.');
  if (lastPass.isWaiting) return yet('The results of the last pass of this check are still being processed.');
  if (!lastPass.isWhole || lastPass.testNos.length === 0) {
    return final('The results of the last pass of this check are not whole: there is nothing to compare with.');
  }
  const missing = countMissing(lastPass, results);
  if (missing > 0) return yet(`${counted(missing, 'test')} of the last pass of this check did not run.`);
  const [before, now] = [lastPass.uploadIds.length, results.uploadIds.length];
  if (now >= before) return undefined;
  return yet(`The results of the last pass of this check came in ${before} uploads, these in ${now}.`);
}

/** Every test of the last pass ran, so that no failure hides behind those that the reports name. */
// SPEC B20
export function ranWhole({ lastPass, results, isOfSeveralRuns }: CheckFacts): boolean {
  return results?.isWhole === true && !isOfSeveralRuns && findGap(lastPass, results) === undefined;
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

const UNTOLD: readonly (string | null)[] = [null];

// SPEC V65
function nameOf({ testId: id, paths }: FailingTest, { tests }: CheckFacts) {
  const test = tests.get(id);
  const suites = test && suitesOf(test, paths);
  return { id, name: test?.name ?? id, ...(suites !== undefined && { suites }), test };
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

// SPEC V52
function judgeTest(failed: FailingTest, facts: CheckFacts): Judging {
  const { test, ...named } = nameOf(failed, facts);
  if (test === undefined) return { ...named, why: 'It is not known.' };
  const { quarantinedAt, quarantine } = test;
  if (quarantinedAt === null) return { ...named, why: 'It is not quarantined.' };
  if (Math.max(quarantinedAt, quarantine.by === 'person' ? quarantine.at : 0) > facts.admittedAt) {
    return { ...named, why: 'It was quarantined only after the pull request had been admitted.' };
  }
  if (isByPerson(test, failed, facts.admittedAt)) return excused(named, test);
  return test.isAutomatic ? excusedByRun(named, failed, test, facts) : { ...named, why: whyOutside(test, failed) };
}

/** A person quarantined it by then, in every suite in which it failed. */
// SPEC F50
function isByPerson(test: FailedTest, { paths = UNTOLD }: FailingTest, by: Instant): boolean {
  return test.quarantinedAt !== null && paths.every((path) => isDecidedFor(test, path, by) === true);
}

function whyOutside(test: FailedTest, { paths = UNTOLD }: FailingTest): string {
  const { parent, quarantine } = test;
  const named = quarantine.by === 'person' ? quarantine.suites.map((each) => suiteNameOf(parent, each)) : [];
  const where = inSuites(named) || ' since before any results named its suite';
  const path = paths.find((each) => isDecidedFor(test, each) !== true) ?? null;
  const failed = path === null ? ' in a suite that is not known' : inSuites([suiteNameOf(parent, path)]);
  return `It is quarantined${where}, and failed${failed}.`;
}

function excused(named: JudgedTest, { decidedBy }: FailedTest): Judging {
  return { ...named, excusedBy: { kind: 'person', ...(decidedBy !== undefined && { name: decidedBy }) } };
}

function excusedByRun(named: JudgedTest, failed: FailingTest, test: FailedTest, { others }: CheckFacts): Judging {
  const run = others.find(({ results }) => hasPassed(results, failed, test));
  if (run !== undefined) return { ...named, excusedBy: { kind: 'run', candidate: run.candidate } };
  return { ...named, why: 'It is flaky, and has not passed on this tree yet.', isRepeatable: true };
}

/** Of a test whose id stands for several suites, results do not tell which of them passed. */
function hasPassed(results: RunResults, { testNo }: FailingTest, { state }: FailedTest): boolean {
  if (pathsOf(state).length > 1 || results.failing.some((other) => other.testNo === testNo)) return false;
  return results.testNos.includes(testNo) && results.skippedNos?.includes(testNo) !== true;
}

function sentenceOf([first, ...others]: readonly JudgedTest[]): string {
  const text = `${first?.name.slice(0, 200)}: ${first?.why}`;
  return others.length === 0 ? text : `${text} ${counted(others.length, 'other test')} failed likewise.`;
}
