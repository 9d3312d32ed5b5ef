import { createAttributeReader, parseAttemptMarker } from './attribute-reader.ts';
import { type CaseDraft, finishCase, NO_RERUNS, type OutcomeDraft, openCase, type TextSink } from './case-draft.ts';
import { hasLiteralMarkup } from './clean-text.ts';
import {
  addDeclared,
  agrees,
  createFailureAccount,
  emptyTally,
  firstDeclared,
  NO_COUNTS,
  seenCounts,
} from './declared-counts.ts';
import type { IssueList } from './issue-list.ts';
import type { DeclaredCounts, JunitCase, JunitSummary, RerunKind } from './junit-case.ts';
import type { JunitLimits } from './limits.ts';
import { noteProperty, openSuite, type SuiteFrame } from './suite-frame.ts';
import type { Attributes } from './tag-attributes.ts';
import type { XmlHandler } from './xml-reader.ts';

interface ReportBuilder extends XmlHandler {
  /** The cases that were completed since the last call. */
  take(): JunitCase[];
  /** Closes all open elements; `whole` is true if the XML itself was complete. */
  finish(whole: boolean, line: number): JunitSummary;
}

interface ReportSource {
  stop(): void;
  /** True if the current tag's attributes need no cleaning. */
  isPlain(): boolean;
}

interface Element {
  readonly name: string;
  readonly kind: ElementKind;
  /** Receives the text directly inside the element. */
  readonly sink: TextSink | null;
  readonly line: number;
}

/**
 * Turns tags into cases. It keeps its own stack: saxes drops all open tags at an end tag that closes nothing, and a
 * bare `</b>` in a message is one.
 */
export function createReportBuilder(issues: IssueList, limits: JunitLimits, source: ReportSource): ReportBuilder {
  const read = createAttributeReader(issues, limits);
  const elements: Element[] = [];
  const suites: SuiteFrame[] = [];
  const tally = emptyTally();
  const account = createFailureAccount();
  let done: JunitCase[] = [];
  let draft: CaseDraft | null = null;
  let declared: DeclaredCounts | null = null;
  let suiteCount = 0;
  let reports = 0;
  let disagreements = 0;
  let damaged = false;
  /** Inside a root that is not JUnit XML: its cases belong to another format. */
  let isForeign = false;

  function open(name: string, attributes: Attributes, line: number, isEmpty: boolean): void {
    const said = elementKind(name);
    if (elements.length === 0 && !enterRoot(name, said, line)) return;
    const kind = isForeign ? 'other' : said;
    if (draft !== null && (kind === 'case' || kind === 'suite' || kind === 'suites')) abandonCase();
    if (elements.length >= limits.depth) {
      issues.add('tooDeep', line, String(limits.depth));
      damaged = true;
      source.stop();
      return;
    }
    read.start(line, source.isPlain());
    const sink = enter(name, kind, attributes, line);
    if (isEmpty) leave(kind, true);
    else elements.push({ name, kind, line, sink });
  }

  /** Returns false if reading should stop. */
  function enterRoot(name: string, kind: ElementKind, line: number): boolean {
    if (kind === 'html') {
      issues.add('html', line);
      source.stop();
      return false;
    }
    // `TestCase` is the root of QTest; JUnit XML writes `testcase`.
    isForeign = kind === 'other' || (kind === 'case' && name !== 'testcase');
    if (!isForeign) return true;
    issues.add('otherFormat', line, name);
    damaged = true;
    return true;
  }

  function enter(name: string, kind: ElementKind, attributes: Attributes, line: number): TextSink | null {
    switch (kind) {
      case 'suites':
      case 'suite':
        enterSuite(kind === 'suites', attributes, line);
        return null;
      case 'case':
        draft = openCase(attributes, line, suites, read);
        return null;
      case 'failure':
      case 'error':
      case 'skipped':
        return enterOutcome(name, kind, attributes, line);
      case 'flakyFailure':
      case 'flakyError':
      case 'rerunFailure':
      case 'rerunError':
        return enterRerun(name, kind, attributes, line);
      case 'output':
        return null;
      case 'property':
        if (draft === null) noteProperty(suites.at(-1), attributes.name);
        else draft.attempt ??= parseAttemptMarker(attributes.name ?? '', attributes.value ?? '');
        return null;
      default:
        // Nested markup inside a text: `stackTrace`, or unescaped characters.
        return elements.at(-1)?.sink ?? null;
    }
  }

  // SPEC J19
  function enterSuite(isReport: boolean, attributes: Attributes, line: number): void {
    const around = suites.at(-1);
    if (around === undefined) {
      reports += 1;
      if (reports === 2) issues.add('severalReports', line);
    }
    if (!isReport) suiteCount += 1;
    const frame = openSuite({ isReport, attributes, line, around, before: { ...tally } }, read);
    suites.push(frame);
    const isOutermost = around === undefined || around.isReport;
    if (isReport || !isOutermost) return;
    if (frame.name === '') issues.add('suiteWithoutName', line);
    if (around === undefined) return;
    around.declaredInside =
      around.declaredInside === null ? frame.declared : addDeclared(around.declaredInside, frame.declared);
  }

  function enterOutcome(
    name: string,
    kind: 'failure' | 'error' | 'skipped',
    attributes: Attributes,
    line: number,
  ): TextSink | null {
    const around = elements.at(-1);
    if (isPrinted()) return around?.sink ?? null;
    if (draft === null) {
      issues.add(kind === 'skipped' ? 'ignoredOutsideCase' : 'resultOutsideCase', line, name);
      if (kind !== 'skipped') {
        tally.failedElements += 1;
        account.stray(1);
      }
      return null;
    }
    if (kind !== 'skipped') draft.failedElements += 1;
    if (around !== undefined && around.kind !== 'case') return around.sink;
    if (kind !== 'skipped') tally.failedElements += 1;
    else if (attributes.type === 'todo') draft.isTodo = true;
    return takeOutcome(draft, { kind, ...readTelling(attributes), text: '' });
  }

  /** Output that a test printed is never a result, even if it looks like one. */
  function isPrinted(): boolean {
    return elements.some((element) => element.kind === 'output');
  }

  /** The first failure or error wins: a test that failed never counts as skipped. */
  // SPEC J3
  function takeOutcome(test: CaseDraft, said: OutcomeDraft): TextSink | null {
    const { outcome } = test;
    if (outcome !== null && (outcome.kind !== 'skipped' || said.kind === 'skipped')) return null;
    test.outcome = said;
    if (said.kind !== 'skipped') test.status = 'failure';
    else if (test.status !== 'failure') test.status = 'skipped';
    return said;
  }

  // SPEC J4
  function enterRerun(name: string, kind: RerunKind, attributes: Attributes, line: number): TextSink | null {
    if (isPrinted()) return elements.at(-1)?.sink ?? null;
    const hasFailed = FAILED_RERUNS.has(kind);
    if (draft === null) {
      issues.add(hasFailed ? 'resultOutsideCase' : 'ignoredOutsideCase', line, name);
      if (hasFailed) account.stray(1);
      return null;
    }
    if (hasFailed) {
      draft.failedElements += 1;
      draft.status = 'failure';
    }
    if (draft.reruns === NO_RERUNS) draft.reruns = [];
    if (draft.reruns.length >= limits.rerunsPerCase) {
      issues.add('tooManyReruns', line, String(limits.rerunsPerCase));
      return null;
    }
    const durationMs = read.durationMs(attributes);
    const timestampAt = read.timestampAt(attributes);
    const rerun = { kind, ...readTelling(attributes), text: '', durationMs, timestampAt };
    draft.reruns.push(rerun);
    return rerun;
  }

  function readTelling(attributes: Attributes) {
    return { message: read.text(attributes.message), type: read.text(attributes.type) };
  }

  function close(name: string, line: number): void {
    const top = elements.at(-1);
    if (top?.name === name) {
      elements.pop();
      leave(top.kind, true);
      return;
    }
    const at = elements.findLastIndex((element) => element.name === name);
    if (at === -1) {
      issues.add('strayClose', line, name);
      return;
    }
    while (elements.length > at + 1) leaveUnclosed(elements.pop() as Element);
    leave((elements.pop() as Element).kind, true);
  }

  // SPEC J11
  function leaveUnclosed(element: Element): void {
    const isStructure = element.kind === 'case' || element.kind === 'suite' || element.kind === 'suites';
    if (isStructure) damaged = true;
    if (element.kind !== 'case') {
      issues.add(isStructure ? 'unclosed' : 'malformed', element.line, unclosedText(element, isStructure));
    }
    leave(element.kind, false);
  }

  function leave(kind: ElementKind, closed: boolean): void {
    if (kind === 'case') leaveCase(closed);
    else if (kind === 'suite' || kind === 'suites') leaveSuite(closed);
  }

  /** A case that starts inside a case means that the first one lost its end tag. */
  function abandonCase(): void {
    const at = elements.findLastIndex(({ kind }) => kind === 'case');
    while (elements.length > at) leaveUnclosed(elements.pop() as Element);
  }

  /** A case that failed without a word of its own is told by its last failed rerun. */
  function takeRerun(test: CaseDraft): void {
    if (test.outcome !== null && test.outcome.kind !== 'skipped') return;
    const last = test.reruns.findLast(({ kind }) => FAILED_RERUNS.has(kind));
    if (last === undefined) return;
    const { message, type, text } = last;
    test.outcome = { kind: last.kind === 'rerunError' ? 'error' : 'failure', message, type, text };
  }

  // SPEC J16, J22
  function leaveCase(closed: boolean): void {
    const ended = draft;
    draft = null;
    if (ended === null) return;
    // A failing todo of node does not fail the run.
    if (ended.isTodo) ended.status = 'skipped';
    else if (ended.status === 'failure') takeRerun(ended);
    const isReported = ended.name !== '' && (closed || ended.status === 'failure');
    if (!isReported || (ended.status !== 'failure' && !ended.isTodo)) account.stray(ended.failedElements);
    if (ended.name === '') {
      issues.add('caseWithoutName', ended.line);
      damaged = true;
      return;
    }
    if (!isReported) {
      issues.add('caseNotClosed', ended.line, ended.name);
      return;
    }
    ended.closed = closed;
    emit(finishCase(ended, suites.at(-1), limits));
  }

  // SPEC J19
  function emit(finished: JunitCase): void {
    const { status, outcome, line } = finished;
    tally.tests += 1;
    tally.reruns += finished.reruns.length;
    if (status === 'skipped') tally.skipped += 1;
    else if (status === 'failure') tally[outcome?.kind === 'error' ? 'errors' : 'failures'] += 1;
    const suite = suites.at(-1);
    if (suite !== undefined) {
      suite.directTests += 1;
      if (status === 'failure') suite.directFailed += 1;
    }
    if (suite === undefined || suite.isReport) issues.add('caseOutsideSuite', line);
    done.push(finished);
  }

  function leaveSuite(closed: boolean): void {
    const suite = suites.pop();
    if (suite === undefined) return;
    const direct = suite.isReport ? null : { tests: suite.directTests, failed: suite.directFailed };
    const isExplained = agrees(suite.declared, suite.before, tally, direct);
    account.endSuite(suite.declared, { before: suite.before, now: tally }, isExplained);
    if (closed && !isExplained) {
      disagreements += 1;
      issues.add('counts', suite.line, suite.name);
    }
    if (suites.length > 0) return;
    // The suites do not declare cases that are directly in the report.
    const inside = suite.directTests > 0 ? NO_COUNTS : (suite.declaredInside ?? NO_COUNTS);
    const own = suite.isReport ? firstDeclared(suite.declared, inside) : suite.declared;
    declared = declared === null ? own : addDeclared(declared, own);
  }

  function collect(text: string, sink: TextSink): void {
    if (sink.text.length < limits.textBytes * 2) sink.text += text.slice(0, limits.textBytes * 2);
  }

  return {
    open,
    close,
    text(text) {
      const sink = elements.at(-1)?.sink ?? null;
      if (sink === null) return;
      if (hasLiteralMarkup(text)) issues.add('bareMarkup', elements.at(-1)?.line ?? 0);
      collect(text, sink);
    },
    cdata(text) {
      const sink = elements.at(-1)?.sink ?? null;
      if (sink !== null) collect(text, sink);
    },
    take() {
      const taken = done;
      done = [];
      return taken;
    },
    finish(wholeXml, line) {
      const innermost = elements.at(-1);
      const whole = wholeXml && innermost === undefined && !damaged && reports > 0;
      if (innermost !== undefined && !damagedByDepth()) issues.add('truncated', line, `<${innermost.name}>`);
      else if (!wholeXml && reports > 0 && !damagedByDepth()) issues.add('truncated', line, 'a tag');
      while (elements.length > 0) leave((elements.pop() as Element).kind, false);
      if (tally.tests === 0 && reports > 0) issues.add('noCases', line);
      if (tally.tests === 0 && reports === 0 && issues.counts().error === 0) issues.add('noResults', line);
      return {
        seen: seenCounts(tally),
        declared: declared ?? NO_COUNTS,
        disagreements,
        unaccounted: account.unaccounted(),
        suites: suiteCount,
        reports,
        whole,
        issues: issues.listed(),
        issueCounts: issues.counts(),
      };
    },
  };

  function damagedByDepth(): boolean {
    return elements.length >= limits.depth;
  }
}

function unclosedText({ name }: Element, isStructure: boolean): string {
  return isStructure ? name : `<${name}> is not closed.`;
}

/** Reporters write them into cases that failed in the end, and the other two into cases that passed. */
const FAILED_RERUNS: ReadonlySet<RerunKind> = new Set(['rerunFailure', 'rerunError']);

type ElementKind =
  | 'suites'
  | 'suite'
  | 'case'
  | 'failure'
  | 'error'
  | 'skipped'
  | 'flakyFailure'
  | 'flakyError'
  | 'rerunFailure'
  | 'rerunError'
  | 'output'
  | 'property'
  | 'html'
  | 'other';

const KINDS: ReadonlyMap<string, ElementKind> = new Map<string, ElementKind>([
  ['testsuites', 'suites'],
  ['testsuite', 'suite'],
  ['testcase', 'case'],
  ['failure', 'failure'],
  ['error', 'error'],
  ['skipped', 'skipped'],
  ['flakyFailure', 'flakyFailure'],
  ['flakyError', 'flakyError'],
  ['rerunFailure', 'rerunFailure'],
  ['rerunError', 'rerunError'],
  ['system-out', 'output'],
  ['system-err', 'output'],
  ['property', 'property'],
  ['html', 'html'],
]);
const LOWER: ReadonlyMap<string, ElementKind> = new Map([...KINDS].map(([name, kind]) => [name.toLowerCase(), kind]));

/** Ignores the prefix and the case of letters. */
function elementKind(name: string): ElementKind {
  // Nine of ten elements; comparing is cheaper than hashing a fresh name.
  if (name === 'testcase') return 'case';
  return KINDS.get(name) ?? LOWER.get(name.slice(name.indexOf(':') + 1).toLowerCase()) ?? 'other';
}
