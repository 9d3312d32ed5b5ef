import { findAttemptMarker } from './attempt-marker.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { cleanText } from './clean-text.ts';
import type { AttemptMarker, JunitCase, JunitOutcome, JunitStatus, RerunKind, SuiteRepeats } from './junit-case.ts';
import type { JunitLimits } from './limits.ts';
import { nestedAttempt, suiteOf } from './nested-classes.ts';
import type { SuiteFrame } from './suite-frame.ts';
import type { Attributes } from './tag-attributes.ts';

/** Collects the text of a failure or rerun; more than can be kept is not even joined. */
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
 * A case whose end has not been seen; it becomes the case itself. Its attributes are read at once: whether they need cleaning
 * is known only while their tag is read. Without a name, `name` is empty.
 */
export interface CaseDraft extends JunitCase {
  attempt: AttemptMarker | null;
  status: JunitStatus;
  outcome: OutcomeDraft | null;
  reruns: RerunDraft[];
  closed: boolean;
  repeats: SuiteRepeats | null;
  /** `failure` and `error` elements in it, wherever they stand. */
  failedElements: number;
  /** `<skipped type="todo">`, as node writes it. */
  isTodo: boolean;
}

/** Shared by all cases without reruns. */
export const NO_RERUNS: RerunDraft[] = [];
const NO_NAMES: readonly string[] = [];

/** `suites` are those around the case, the report first where there is one. */
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
    // Surefire tells of a class that could not be set up as a case without a name.
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
function saidStatus({ status, result }: Attributes): JunitStatus {
  if (status === undefined && result === undefined) return 'success';
  if (FAILED.test(status ?? '') || FAILED.test(result ?? '')) return 'failure';
  return SKIPPED.test(status ?? '') || SKIPPED.test(result ?? '') ? 'skipped' : 'success';
}
