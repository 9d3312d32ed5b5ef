import type { AttributeReader } from './attribute-reader.ts';
import { findAttemptMarker } from './attribute-reader.ts';
import { cleanText } from './clean-text.ts';
import type { AttemptMarker, JunitCase, JunitOutcome, JunitStatus, RerunKind, SuiteRepeats } from './junit-case.ts';
import type { JunitLimits } from './limits.ts';
import type { SuiteFrame } from './suite-frame.ts';
import type { Attributes } from './tag-attributes.ts';

/** Collects the text of a failure or rerun; text beyond the limit is not even joined. */
export interface TextSink {
  text: string;
}

export interface OutcomeDraft extends TextSink {
  readonly kind: JunitOutcome['kind'];
  readonly message: string | null;
  readonly type: string | null;
}

interface RerunDraft extends TextSink {
  readonly kind: RerunKind;
  readonly message: string | null;
  readonly type: string | null;
  readonly durationMs: number | null;
  readonly timestampAt: number | null;
}

/**
 * A case without its end tag yet; it becomes the case itself. Its attributes are read at once, because only the reader
 * of the tag knows whether they need cleaning. `name` is empty if there is none.
 */
export interface CaseDraft extends JunitCase {
  attempt: AttemptMarker | null;
  status: JunitStatus;
  outcome: OutcomeDraft | null;
  reruns: RerunDraft[];
  closed: boolean;
  repeats: SuiteRepeats | null;
  /** `failure` and `error` elements inside, at any depth. */
  failedElements: number;
  /** `<skipped type="todo">`, as node writes it. */
  isTodo: boolean;
}

/** Shared by all cases without reruns. */
export const NO_RERUNS: RerunDraft[] = [];
const NO_NAMES: readonly string[] = [];

/** `suites` are those around the case, the report first if there is one. */
// SPEC J2, J6
export function openCase(
  attributes: Attributes,
  line: number,
  suites: readonly SuiteFrame[],
  read: AttributeReader,
): CaseDraft {
  const outer = suites[suites[0]?.isReport === true ? 1 : 0];
  const inner = suites.at(-1);
  const ownAt = read.timestampAt(attributes);
  const classname = read.text(attributes.classname);
  return {
    // Surefire reports a failed class setup as a case without a name.
    name: read.text(attributes.name) ?? classname ?? '',
    classname,
    file: read.text(attributes.file) ?? read.text(attributes.filepath) ?? outer?.file ?? null,
    suite: suiteOf(outer?.name ?? '', classname),
    suites: inner?.names ?? NO_NAMES,
    id: read.text(attributes.id),
    timestampAt: ownAt ?? inner?.timestampAt ?? null,
    timestampFrom: ownAt === null ? (inner?.timestampFrom ?? null) : 'case',
    durationMs: read.durationMs(attributes),
    status: saidStatus(attributes),
    outcome: null,
    reruns: NO_RERUNS,
    attempt: findAttemptMarker(attributes),
    closed: true,
    repeats: null,
    failedElements: 0,
    isTodo: false,
    line,
  };
}

export function finishCase(draft: CaseDraft, suite: SuiteFrame | undefined, limits: JunitLimits): JunitCase {
  draft.attempt ??= suite?.attempt ?? nestedAttempt(draft, suite);
  draft.repeats = suite?.repeats ?? null;
  if (draft.repeats !== null) draft.repeats.cases += 1;
  if (draft.outcome !== null) draft.outcome.text = cleanText(draft.outcome.text, limits.textBytes);
  for (const rerun of draft.reruns) rerun.text = cleanText(rerun.text, limits.textBytes);
  return draft;
}

const SKIPPED = /^(?:notrun|not_run|disabled|skipped|skip|suppressed|ignored|pending|notexecuted)$/i;
const FAILED = /^(?:fail|failed|failure|error|errored)$/i;

/** The attributes of GoogleTest and CTest; a test that did not run is no pass. */
// SPEC J3
function saidStatus({ status, result }: Attributes): JunitStatus {
  if (status === undefined && result === undefined) return 'success';
  if (FAILED.test(status ?? '') || FAILED.test(result ?? '')) return 'failure';
  return SKIPPED.test(status ?? '') || SKIPPED.test(result ?? '') ? 'skipped' : 'success';
}

// Surefire and nested classes: it writes the tests of a class into the report of a class nested in it. It writes the
// reruns of these tests into another report, which declares no tests.

/** The suite of a case: its own class, if the case is in the report of a nested or an enclosing class. */
function suiteOf(suite: string, classname: string | null): string {
  return classname !== null && isNested(suite, classname) ? classname : suite;
}

/** The attempt number: the first attempt fails in the wrong report, a later one passes in that of its own class. */
function nestedAttempt(
  test: { readonly status: JunitStatus; readonly classname: string | null; readonly reruns: readonly unknown[] },
  suite: SuiteFrame | undefined,
): AttemptMarker | null {
  const { classname } = test;
  if (suite === undefined || classname === null) return null;
  const isFirst = test.status === 'failure' && test.reruns.length === 0 && isNested(suite.name, classname);
  if (isFirst) return { name: 'nested', value: 0 };
  const isLater = test.status === 'success' && suite.name === classname && suite.declared.tests === 0;
  return isLater ? { name: 'nested', value: 1 } : null;
}

function isNested(suite: string, classname: string): boolean {
  if (suite === classname || !(suite.includes('$') || classname.includes('$'))) return false;
  return outermost(suite) === outermost(classname);
}

function outermost(name: string): string {
  const end = name.indexOf('$');
  return end === -1 ? name : name.slice(0, end);
}
