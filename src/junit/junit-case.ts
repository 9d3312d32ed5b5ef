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

/**
 * A case with paths relative to the folder that the repository was checked out to. PHPUnit and node write whole paths, also
 * as names of suites, and CI checks out to another folder each time: without this, one test is many.
 */
export function relativeCase(test: JunitCase, root: string | null): JunitCase {
  if (root === null || root === '') return test;
  const file = test.file === null ? null : relativeTo(test.file, root);
  const suite = relativeTo(test.suite, root);
  const isSame =
    file === test.file && suite === test.suite && test.suites.every((name) => relativeTo(name, root) === name);
  return isSame ? test : { ...test, file, suite, suites: test.suites.map((name) => relativeTo(name, root)) };
}

function relativeTo(path: string, root: string): string {
  const folder = root.replace(/[/\\]+$/, '');
  const isInside = folder !== '' && path.startsWith(folder) && /^[/\\]/.test(path.slice(folder.length));
  if (!isInside) return path;
  const relative = path.slice(folder.length).replace(/^[/\\]+/, '');
  // Elsewhere a backslash is a letter like any other.
  return folder.includes('\\') ? relative.replaceAll('\\', '/') : relative;
}

/**
 * Why a report cannot be believed as a whole, as the rest of a sentence that begins with its name; null: it can. Server and
 * uploader both ask here, so that neither excuses what the other does not.
 */
export function reportProblem(summary: Pick<JunitSummary, 'whole' | 'unaccounted' | 'disagreements'>): string | null {
  const { whole, unaccounted, disagreements } = summary;
  if (!whole) return 'is not a whole report.';
  if (unaccounted > 0) {
    const [failures, belong] = unaccounted === 1 ? ['1 failure', 'belongs'] : [`${unaccounted} failures`, 'belong'];
    return `tells of ${failures} that ${belong} to no failing test.`;
  }
  return disagreements > 0 ? 'does not hold as many tests or failures as it declares.' : null;
}

/**
 * Which failures of a test stand, over all of its cases. A failed try is taken back only by a later try that passed, by the
 * report's own count. A pass at a later time takes nothing back: cases of one name may be several tests, as with parameters.
 */
export interface Tries {
  readonly lastFailed: number;
  readonly lastPassed: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
/** A failure without a number is the last try, a pass without one is none. */
const UNCOUNTED_FAILURE = Number.POSITIVE_INFINITY;

export const NO_TRIES: Tries = { lastFailed: NEVER, lastPassed: NEVER };

export function noteTry(tries: Tries, run: { readonly hasFailed: boolean; readonly attempt: number | null }): Tries {
  const { lastFailed, lastPassed } = tries;
  if (run.hasFailed) return { lastFailed: Math.max(lastFailed, run.attempt ?? UNCOUNTED_FAILURE), lastPassed };
  return { lastFailed, lastPassed: Math.max(lastPassed, run.attempt ?? NEVER) };
}

export function failsInTheEnd({ lastFailed, lastPassed }: Tries): boolean {
  return lastFailed > NEVER && lastPassed <= lastFailed;
}
