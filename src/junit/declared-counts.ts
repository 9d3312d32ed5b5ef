import type { DeclaredCounts, SeenCounts } from './junit-case.ts';
import type { Attributes } from './xml-reader.ts';

/** Counted as they come; elements apart, because some reporters count these instead of cases. */
export interface Tally {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
  failedElements: number;
}

export const NO_COUNTS: DeclaredCounts = { tests: null, failures: null, errors: null, skipped: null };

export function emptyTally(): Tally {
  return { tests: 0, failures: 0, errors: 0, skipped: 0, failedElements: 0 };
}

export function readDeclaredCounts(attributes: Attributes): DeclaredCounts {
  return {
    tests: count(attributes['tests']),
    failures: count(attributes['failures']),
    errors: count(attributes['errors']),
    skipped: count(attributes['skipped'] ?? attributes['skip'] ?? attributes['disabled']),
  };
}

/** Unknown where one of them is. */
export function addDeclared(a: DeclaredCounts, b: DeclaredCounts): DeclaredCounts {
  const add = (x: number | null, y: number | null) => (x === null || y === null ? null : x + y);
  return {
    tests: add(a.tests, b.tests),
    failures: add(a.failures, b.failures),
    errors: add(a.errors, b.errors),
    skipped: add(a.skipped, b.skipped),
  };
}

/** The counts of the report itself, where absent those of its suites. */
export function firstDeclared(own: DeclaredCounts, ofSuites: DeclaredCounts): DeclaredCounts {
  return {
    tests: own.tests ?? ofSuites.tests,
    failures: own.failures ?? ofSuites.failures,
    errors: own.errors ?? ofSuites.errors,
    skipped: own.skipped ?? ofSuites.skipped,
  };
}

/** What a suite held itself, without the suites inside it. */
export interface DirectCounts {
  readonly tests: number;
  readonly failed: number;
}

/**
 * Whether what is declared can be what was seen between two tallies. Reporters differ in whether a suite counts the cases
 * of suites inside it (`direct` where that may be), and whether two failures of one case count twice; either is taken.
 */
export function agrees(declared: DeclaredCounts, before: Tally, now: Tally, direct: DirectCounts | null): boolean {
  const tests = now.tests - before.tests;
  const isDirect = direct !== null && declared.tests !== tests && declared.tests === direct.tests;
  if (declared.tests !== null && declared.tests !== tests && !isDirect) return false;
  if (declared.failures === null && declared.errors === null) return true;
  const failed = (declared.failures ?? 0) + (declared.errors ?? 0);
  if (isDirect) return failed === direct.failed;
  const failedCases = now.failures + now.errors - before.failures - before.errors;
  return failed === failedCases || failed === now.failedElements - before.failedElements;
}

export function seenCounts({ tests, failures, errors, skipped }: Tally): SeenCounts {
  return { tests, failures, errors, skipped };
}

function count(value: string | undefined): number | null {
  const text = value?.trim() ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
