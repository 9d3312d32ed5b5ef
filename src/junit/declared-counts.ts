import type { DeclaredCounts, SeenCounts } from './junit-case.ts';
import type { Attributes } from './tag-attributes.ts';

/** Running counts. Elements are counted apart, because some reporters count these instead of cases. */
export interface Tally {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
  failedElements: number;
  reruns: number;
}

export const NO_COUNTS: DeclaredCounts = { tests: null, failures: null, errors: null, skipped: null };

export function emptyTally(): Tally {
  return { tests: 0, failures: 0, errors: 0, skipped: 0, failedElements: 0, reruns: 0 };
}

export function readDeclaredCounts(attributes: Attributes): DeclaredCounts {
  return {
    tests: count(attributes.tests),
    failures: count(attributes.failures),
    errors: count(attributes.errors),
    skipped: count(attributes.skipped ?? attributes.skip ?? attributes.disabled),
  };
}

/** Null if either one is null. */
export function addDeclared(a: DeclaredCounts, b: DeclaredCounts): DeclaredCounts {
  const add = (x: number | null, y: number | null) => (x === null || y === null ? null : x + y);
  return {
    tests: add(a.tests, b.tests),
    failures: add(a.failures, b.failures),
    errors: add(a.errors, b.errors),
    skipped: add(a.skipped, b.skipped),
  };
}

/** The counts of the report itself, or those of its suites if absent. */
export function firstDeclared(own: DeclaredCounts, ofSuites: DeclaredCounts): DeclaredCounts {
  return {
    tests: own.tests ?? ofSuites.tests,
    failures: own.failures ?? ofSuites.failures,
    errors: own.errors ?? ofSuites.errors,
    skipped: own.skipped ?? ofSuites.skipped,
  };
}

/** Counts of a suite itself, without the suites nested in it. */
export interface DirectCounts {
  readonly tests: number;
  readonly failed: number;
}

/**
 * Tells whether the declared counts can match those seen between two tallies: no test and no failure is missing.
 * Reporters differ in whether a suite counts the cases of nested suites (then `direct` is set), whether two failures of
 * one case count twice, and whether reruns count as tests and failures (Surefire). Some do not count tests that they
 * write: skipped ones (Ginkgo), the second element of a test that failed twice (pytest), one that stands for a file
 * that did not load (Jest).
 */
// SPEC J8
export function agrees(declared: DeclaredCounts, before: Tally, now: Tally, direct: DirectCounts | null): boolean {
  const { tests } = declared;
  const seen = now.tests - before.tests;
  const reruns = now.reruns - before.reruns;
  const cases = now.failures + now.errors - before.failures - before.errors;
  const elements = now.failedElements - before.failedElements;
  if ((tests === null || tests <= seen) && agreesOnFailures(declared, [cases, elements])) return true;
  if (tests === seen + reruns && agreesOnFailures(declared, [cases + reruns, elements + reruns])) return true;
  return direct !== null && tests === direct.tests && agreesOnFailures(declared, [direct.failed]);
}

function agreesOnFailures({ failures, errors }: DeclaredCounts, counts: readonly number[]): boolean {
  return (failures === null && errors === null) || counts.includes((failures ?? 0) + (errors ?? 0));
}

export function seenCounts({ tests, failures, errors, skipped }: Tally): SeenCounts {
  return { tests, failures, errors, skipped };
}

function count(value: string | undefined): number | null {
  const text = value?.trim() ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/**
 * Accounts for every sign of failure in a report. A sign is a `failure` or `error` element, or a failure that a suite
 * declares. Each must belong to a case that is reported as failing. A sign that is left over is a failure without a
 * test, and then no failure of the report may be waived.
 */
interface FailureAccount {
  /** Counts elements that belong to no failing case. */
  stray(elements: number): void;
  /**
   * Called at the end of a suite, closed or not; `agrees` is true if the suite's own way of counting explains its
   * declared counts.
   */
  endSuite(declared: DeclaredCounts, counts: { readonly before: Tally; readonly now: Tally }, agrees: boolean): void;
  /** The least number of failures that belong to no failing case. */
  unaccounted(): number;
}

// SPEC J14
export function createFailureAccount(): FailureAccount {
  let elements = 0;
  let notFound = 0;
  return {
    stray(count) {
      elements += count;
    },
    endSuite(declared, { before, now }, agrees) {
      if (agrees) return;
      const found = Math.max(
        now.failures + now.errors - before.failures - before.errors,
        now.failedElements - before.failedElements,
      );
      const said = (declared.failures ?? 0) + (declared.errors ?? 0);
      // The enclosing suites declare the same failures again, so the largest gap counts.
      notFound = Math.max(notFound, said - found);
    },
    unaccounted: () => elements + notFound,
  };
}
