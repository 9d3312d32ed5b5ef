export type JunitStatus = 'success' | 'failure' | 'skipped';
export type RerunKind = 'flakyFailure' | 'flakyError' | 'rerunFailure' | 'rerunError';

/** The report's text about a run that did not simply pass. An absent attribute is null, an absent text empty. */
interface Telling {
  readonly message: string | null;
  readonly type: string | null;
  readonly text: string;
}

export interface JunitOutcome extends Telling {
  /** An error counts as a failure; the kind is kept. */
  readonly kind: 'failure' | 'error' | 'skipped';
}

/** An earlier, failed run of the same case. */
export interface JunitRerun extends Telling {
  readonly kind: RerunKind;
  readonly durationMs: number | null;
  readonly timestampAt: number | null;
}

/** The attempt number of a case. `value` is as written: some reporters count from 0, some from 1. */
export interface AttemptMarker {
  readonly name: string;
  readonly value: number;
}

/** Shared by all cases of a suite, and complete when the suite ends. */
export interface SuiteRepeats {
  /** go: runs in any order. pytest: runs in order, with all but the last marked as passed. */
  readonly kind: 'go' | 'pytest';
  /** Tests that the suite declares: pytest does not count attempts that were rerun. */
  readonly declared: number | null;
  cases: number;
}

export interface JunitCase {
  readonly name: string;
  readonly classname: string | null;
  readonly file: string | null;
  /** Name of the outermost suite; empty if there is none. */
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
  /** Set if every name is unique in its suite, so that a repeated one is another attempt; null: unknown. */
  readonly repeats: SuiteRepeats | null;
  /** False if the end tag is missing: such a case is reported only if it failed. */
  readonly closed: boolean;
  readonly line: number;
}

export interface JunitIssue {
  readonly level: 'error' | 'warning' | 'info';
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

/** Null if no suite, or not every outermost suite, has the attribute. */
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
  /** Suites and reports whose declared counts of tests or failures differ from those seen. */
  readonly disagreements: number;
  /** Failures in elements or declared counts that belong to no failing case. */
  readonly unaccounted: number;
  readonly suites: number;
  /** `testsuites` elements, or outermost `testsuite` elements, side by side in the file. */
  readonly reports: number;
  /** Read to its end, and everything opened was closed. */
  readonly whole: boolean;
  readonly issues: readonly JunitIssue[];
  /** Counts all issues, including those not listed. */
  readonly issueCounts: Readonly<Record<JunitIssue['level'], number>>;
}

/**
 * Makes paths relative to the checkout folder. PHPUnit and node write absolute paths, also as names of suites, and CI
 * checks out to another folder each time: without this, one test would become many.
 */
// SPEC U44
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
  // On other systems a backslash is an ordinary character.
  return folder.includes('\\') ? relative.replaceAll('\\', '/') : relative;
}

/**
 * Why a report cannot be trusted as a whole, as the rest of a sentence that begins with its name; null: it can. Server
 * and uploader share this function, so that neither excuses a failure that the other does not.
 */
// SPEC J23, U68
export function reportProblem(summary: Pick<JunitSummary, 'whole' | 'unaccounted' | 'disagreements'>): string | null {
  const { whole, unaccounted, disagreements } = summary;
  if (!whole) return 'is not a whole report.';
  if (unaccounted > 0) {
    const [failures, belong] = unaccounted === 1 ? ['1 failure', 'belongs'] : [`${unaccounted} failures`, 'belong'];
    return `tells of ${failures} that ${belong} to no failing test.`;
  }
  return disagreements > 0 ? 'does not hold as many tests or failures as it declares.' : null;
}

const SAYS_NOTHING = /^(?:test )?(?:fail|failed|failure|error)?[.!]?$/i;
/** Go's own lines around what a test says. */
const GO_FRAMING = /^[ \t]*(?:=== (?:RUN|PAUSE|CONT|NAME)\b|--- (?:FAIL|PASS|SKIP): ).*$/m;

/** The message of a failure. If its attribute says only that the case failed, the body says why. */
// SPEC J24
export function toldMessage({ message, text }: Pick<Telling, 'message' | 'text'>): string {
  const said = message ?? '';
  if (!SAYS_NOTHING.test(said.trim())) return said;
  const [first = ''] = text.split(GO_FRAMING).filter((part) => part.trim() !== '');
  return first.trim() || said;
}

/**
 * Decides which failures of a test stand, over all of its cases. Only a later attempt that passed, by the report's own
 * numbering, cancels a failed attempt. A pass at a later time cancels nothing: cases of one name may be several
 * parametrised tests.
 */
export interface Tries {
  readonly lastFailed: number;
  readonly lastPassed: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
/** A failure without a number counts as the last attempt; a pass without one cancels nothing. */
const UNCOUNTED_FAILURE = Number.POSITIVE_INFINITY;

export const NO_TRIES: Tries = { lastFailed: NEVER, lastPassed: NEVER };

export function noteTry(tries: Tries, run: { readonly hasFailed: boolean; readonly attempt: number | null }): Tries {
  const { lastFailed, lastPassed } = tries;
  if (run.hasFailed) return { lastFailed: Math.max(lastFailed, run.attempt ?? UNCOUNTED_FAILURE), lastPassed };
  return { lastFailed, lastPassed: Math.max(lastPassed, run.attempt ?? NEVER) };
}

// SPEC J15
export function failsInTheEnd({ lastFailed, lastPassed }: Tries): boolean {
  return lastFailed > NEVER && lastPassed <= lastFailed;
}
