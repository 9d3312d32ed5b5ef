export type JunitStatus = 'success' | 'failure' | 'skipped';
export type RerunKind = 'flakyFailure' | 'flakyError' | 'rerunFailure' | 'rerunError';

/** What the report says of a run that did not simply pass. An absent attribute is null, an absent text empty. */
interface Telling {
  readonly message: string | null;
  readonly type: string | null;
  readonly text: string;
}

export interface JunitOutcome extends Telling {
  /** An error counts as a failure; which of them it was is kept. */
  readonly kind: 'failure' | 'error' | 'skipped';
}

/** An earlier run of the same case that failed. */
export interface JunitRerun extends Telling {
  readonly kind: RerunKind;
  readonly durationMs: number | null;
  readonly timestampAt: number | null;
}

/** That a case says which try it is. `value` as written: some count from 0, some from 1. */
export interface AttemptMarker {
  readonly name: string;
  readonly value: number;
}

/** One for all cases of a suite, and complete when the suite ends. */
export interface SuiteRepeats {
  /** go: runs in any order. pytest: in their order, and all but the last as if they had passed. */
  readonly kind: 'go' | 'pytest';
  /** Tests that the suite declares: pytest leaves tries out that were run again. */
  readonly declared: number | null;
  cases: number;
}

export interface JunitCase {
  readonly name: string;
  readonly classname: string | null;
  readonly file: string | null;
  /** Name of the outermost suite; empty where there is none. */
  readonly suite: string;
  /** Names of all suites around the case, the outermost first. */
  readonly suites: readonly string[];
  /** The attribute `id`. */
  readonly id: string | null;
  readonly timestampAt: number | null;
  readonly timestampFrom: 'case' | 'suite' | 'report' | null;
  readonly durationMs: number | null;
  readonly status: JunitStatus;
  readonly outcome: JunitOutcome | null;
  readonly reruns: readonly JunitRerun[];
  readonly attempt: AttemptMarker | null;
  /** Where its suite has every name once, so that a repeated one is another try; null: that is not known. */
  readonly repeats: SuiteRepeats | null;
  /** False where the end tag is missing: only failures are told of such a case. */
  readonly closed: boolean;
  readonly line: number;
}

export interface JunitIssue {
  readonly level: 'error' | 'warning' | 'info';
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

/** Null where no suite, or not every outermost suite, has the attribute. */
export interface DeclaredCounts {
  readonly tests: number | null;
  readonly failures: number | null;
  readonly errors: number | null;
  readonly skipped: number | null;
}

export interface SeenCounts {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
}

export interface JunitSummary {
  readonly seen: SeenCounts;
  readonly declared: DeclaredCounts;
  /** Suites and reports that declare other counts of tests or failures than were seen in them. */
  readonly disagreements: number;
  /** Failures that elements or suites tell of, and that no failing case stands for. */
  readonly unaccounted: number;
  readonly suites: number;
  /** `testsuites` elements, or outermost `testsuite` elements, that stand beside each other in the file. */
  readonly reports: number;
  /** Read to its end, and everything opened was closed. */
  readonly whole: boolean;
  readonly issues: readonly JunitIssue[];
  /** All issues, also those not listed. */
  readonly issueCounts: Readonly<Record<JunitIssue['level'], number>>;
}
