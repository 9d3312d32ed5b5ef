import { type AttributeReader, createAttributeReader, parseAttemptMarker } from './attribute-reader.ts';
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
import { type ElementKind, elementKind } from './element-kind.ts';
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

export function createReportBuilder(issues: IssueList, limits: JunitLimits, source: ReportSource): ReportBuilder {
  return new Builder(issues, limits, source);
}

/**
 * Turns tags into cases. It keeps its own stack: saxes drops all open tags at an end tag that closes nothing, and a
 * bare `</b>` in a message is one.
 */
class Builder implements ReportBuilder {
  readonly #issues: IssueList;
  readonly #limits: JunitLimits;
  readonly #source: ReportSource;
  readonly #read: AttributeReader;
  readonly #elements: Element[] = [];
  readonly #suites: SuiteFrame[] = [];
  readonly #tally = emptyTally();
  readonly #account = createFailureAccount();
  #done: JunitCase[] = [];
  #draft: CaseDraft | null = null;
  #declared: DeclaredCounts | null = null;
  #suiteCount = 0;
  #reports = 0;
  #disagreements = 0;
  #damaged = false;
  /** Inside a root that is not JUnit XML: its cases belong to another format. */
  #isForeign = false;

  constructor(issues: IssueList, limits: JunitLimits, source: ReportSource) {
    this.#issues = issues;
    this.#limits = limits;
    this.#source = source;
    this.#read = createAttributeReader(issues, limits);
  }

  open(name: string, attributes: Attributes, line: number, isEmpty: boolean): void {
    const said = elementKind(name);
    if (this.#elements.length === 0 && !this.#enterRoot(name, said, line)) return;
    const kind = this.#isForeign ? 'other' : said;
    if (this.#draft !== null && (kind === 'case' || kind === 'suite' || kind === 'suites')) this.#abandonCase();
    if (this.#elements.length >= this.#limits.depth) {
      this.#issues.add('tooDeep', line, String(this.#limits.depth));
      this.#damaged = true;
      this.#source.stop();
      return;
    }
    this.#read.start(line, this.#source.isPlain());
    const sink = this.#enter(name, kind, attributes, line);
    if (isEmpty) this.#leave(kind, true);
    else this.#elements.push({ name, kind, line, sink });
  }

  /** Returns false if reading should stop. */
  #enterRoot(name: string, kind: ElementKind, line: number): boolean {
    if (kind === 'html') {
      this.#issues.add('html', line);
      this.#source.stop();
      return false;
    }
    // `TestCase` is the root of QTest; JUnit XML writes `testcase`.
    this.#isForeign = kind === 'other' || (kind === 'case' && name !== 'testcase');
    if (!this.#isForeign) return true;
    this.#issues.add('otherFormat', line, name);
    this.#damaged = true;
    return true;
  }

  #enter(name: string, kind: ElementKind, attributes: Attributes, line: number): TextSink | null {
    switch (kind) {
      case 'suites':
      case 'suite':
        this.#enterSuite(kind === 'suites', attributes, line);
        return null;
      case 'case':
        this.#draft = openCase(attributes, line, this.#suites, this.#read);
        return null;
      case 'failure':
      case 'error':
      case 'skipped':
        return this.#enterOutcome(name, kind, attributes, line);
      case 'flakyFailure':
      case 'flakyError':
      case 'rerunFailure':
      case 'rerunError':
        return this.#enterRerun(name, kind, attributes, line);
      case 'output':
        return null;
      case 'property':
        if (this.#draft === null) noteProperty(this.#suites.at(-1), attributes.name);
        else this.#draft.attempt ??= parseAttemptMarker(attributes.name ?? '', attributes.value ?? '');
        return null;
      default:
        // Nested markup inside a text: `stackTrace`, or unescaped characters.
        return this.#elements.at(-1)?.sink ?? null;
    }
  }

  // SPEC J19
  #enterSuite(isReport: boolean, attributes: Attributes, line: number): void {
    const around = this.#suites.at(-1);
    if (around === undefined) {
      this.#reports += 1;
      if (this.#reports === 2) this.#issues.add('severalReports', line);
    }
    if (!isReport) this.#suiteCount += 1;
    const frame = openSuite({ isReport, attributes, line, around, before: { ...this.#tally } }, this.#read);
    this.#suites.push(frame);
    const isOutermost = around === undefined || around.isReport;
    if (isReport || !isOutermost) return;
    if (frame.name === '') this.#issues.add('suiteWithoutName', line);
    if (around === undefined) return;
    around.declaredInside =
      around.declaredInside === null ? frame.declared : addDeclared(around.declaredInside, frame.declared);
  }

  #enterOutcome(
    name: string,
    kind: 'failure' | 'error' | 'skipped',
    attributes: Attributes,
    line: number,
  ): TextSink | null {
    const around = this.#elements.at(-1);
    if (this.#isPrinted()) return around?.sink ?? null;
    if (this.#draft === null) {
      this.#issues.add(kind === 'skipped' ? 'ignoredOutsideCase' : 'resultOutsideCase', line, name);
      if (kind !== 'skipped') {
        this.#tally.failedElements += 1;
        this.#account.stray(1);
      }
      return null;
    }
    if (kind !== 'skipped') this.#draft.failedElements += 1;
    if (around !== undefined && around.kind !== 'case') return around.sink;
    if (kind !== 'skipped') this.#tally.failedElements += 1;
    else if (attributes.type === 'todo') this.#draft.isTodo = true;
    return this.#takeOutcome(this.#draft, { kind, ...this.#readTelling(attributes), text: '' });
  }

  /** Output that a test printed is never a result, even if it looks like one. */
  #isPrinted(): boolean {
    return this.#elements.some((element) => element.kind === 'output');
  }

  /** The first failure or error wins: a test that failed never counts as skipped. */
  // SPEC J3
  #takeOutcome(test: CaseDraft, said: OutcomeDraft): TextSink | null {
    const { outcome } = test;
    if (outcome !== null && (outcome.kind !== 'skipped' || said.kind === 'skipped')) return null;
    test.outcome = said;
    if (said.kind !== 'skipped') test.status = 'failure';
    else if (test.status !== 'failure') test.status = 'skipped';
    return said;
  }

  // SPEC J4
  #enterRerun(name: string, kind: RerunKind, attributes: Attributes, line: number): TextSink | null {
    if (this.#isPrinted()) return this.#elements.at(-1)?.sink ?? null;
    const hasFailed = FAILED_RERUNS.has(kind);
    if (this.#draft === null) {
      this.#issues.add(hasFailed ? 'resultOutsideCase' : 'ignoredOutsideCase', line, name);
      if (hasFailed) this.#account.stray(1);
      return null;
    }
    if (hasFailed) {
      this.#draft.failedElements += 1;
      this.#draft.status = 'failure';
    }
    if (this.#draft.reruns === NO_RERUNS) this.#draft.reruns = [];
    if (this.#draft.reruns.length >= this.#limits.rerunsPerCase) {
      this.#issues.add('tooManyReruns', line, String(this.#limits.rerunsPerCase));
      return null;
    }
    const durationMs = this.#read.durationMs(attributes);
    const timestampAt = this.#read.timestampAt(attributes);
    const rerun = { kind, ...this.#readTelling(attributes), text: '', durationMs, timestampAt };
    this.#draft.reruns.push(rerun);
    return rerun;
  }

  #readTelling(attributes: Attributes) {
    return { message: this.#read.text(attributes.message), type: this.#read.text(attributes.type) };
  }

  close(name: string, line: number): void {
    const top = this.#elements.at(-1);
    if (top?.name === name) {
      this.#elements.pop();
      this.#leave(top.kind, true);
      return;
    }
    const at = this.#elements.findLastIndex((element) => element.name === name);
    if (at === -1) {
      this.#issues.add('strayClose', line, name);
      return;
    }
    while (this.#elements.length > at + 1) this.#leaveUnclosed(this.#elements.pop() as Element);
    this.#leave((this.#elements.pop() as Element).kind, true);
  }

  // SPEC J11
  #leaveUnclosed(element: Element): void {
    const isStructure = element.kind === 'case' || element.kind === 'suite' || element.kind === 'suites';
    if (isStructure) this.#damaged = true;
    if (element.kind !== 'case') {
      this.#issues.add(isStructure ? 'unclosed' : 'malformed', element.line, unclosedText(element, isStructure));
    }
    this.#leave(element.kind, false);
  }

  #leave(kind: ElementKind, closed: boolean): void {
    if (kind === 'case') this.#leaveCase(closed);
    else if (kind === 'suite' || kind === 'suites') this.#leaveSuite(closed);
  }

  /** A case that starts inside a case means that the first one lost its end tag. */
  #abandonCase(): void {
    const at = this.#elements.findLastIndex(({ kind }) => kind === 'case');
    while (this.#elements.length > at) this.#leaveUnclosed(this.#elements.pop() as Element);
  }

  /** A case that failed without a word of its own is told by its last failed rerun. */
  #takeRerun(test: CaseDraft): void {
    if (test.outcome !== null && test.outcome.kind !== 'skipped') return;
    const last = test.reruns.findLast(({ kind }) => FAILED_RERUNS.has(kind));
    if (last === undefined) return;
    const { message, type, text } = last;
    test.outcome = { kind: last.kind === 'rerunError' ? 'error' : 'failure', message, type, text };
  }

  // SPEC J16, J22
  #leaveCase(closed: boolean): void {
    const ended = this.#draft;
    this.#draft = null;
    if (ended === null) return;
    // A failing todo of node does not fail the run.
    if (ended.isTodo) ended.status = 'skipped';
    else if (ended.status === 'failure') this.#takeRerun(ended);
    const isReported = ended.name !== '' && (closed || ended.status === 'failure');
    if (!isReported || (ended.status !== 'failure' && !ended.isTodo)) this.#account.stray(ended.failedElements);
    if (ended.name === '') {
      this.#issues.add('caseWithoutName', ended.line);
      this.#damaged = true;
      return;
    }
    if (!isReported) {
      this.#issues.add('caseNotClosed', ended.line, ended.name);
      return;
    }
    ended.closed = closed;
    this.#emit(finishCase(ended, this.#suites.at(-1), this.#limits));
  }

  // SPEC J19
  #emit(finished: JunitCase): void {
    const { status, outcome, line } = finished;
    this.#tally.tests += 1;
    this.#tally.reruns += finished.reruns.length;
    if (status === 'skipped') this.#tally.skipped += 1;
    else if (status === 'failure') this.#tally[outcome?.kind === 'error' ? 'errors' : 'failures'] += 1;
    const suite = this.#suites.at(-1);
    if (suite !== undefined) {
      suite.directTests += 1;
      if (status === 'failure') suite.directFailed += 1;
    }
    if (suite === undefined || suite.isReport) this.#issues.add('caseOutsideSuite', line);
    this.#done.push(finished);
  }

  #leaveSuite(closed: boolean): void {
    const suite = this.#suites.pop();
    if (suite === undefined) return;
    const direct = suite.isReport ? null : { tests: suite.directTests, failed: suite.directFailed };
    const isExplained = agrees(suite.declared, suite.before, this.#tally, direct);
    this.#account.endSuite(suite.declared, { before: suite.before, now: this.#tally }, isExplained);
    if (closed && !isExplained) {
      this.#disagreements += 1;
      this.#issues.add('counts', suite.line, suite.name);
    }
    if (this.#suites.length > 0) return;
    // The suites do not declare cases that are directly in the report.
    const inside = suite.directTests > 0 ? NO_COUNTS : (suite.declaredInside ?? NO_COUNTS);
    const own = suite.isReport ? firstDeclared(suite.declared, inside) : suite.declared;
    this.#declared = this.#declared === null ? own : addDeclared(this.#declared, own);
  }

  #collect(text: string, sink: TextSink): void {
    if (sink.text.length < this.#limits.textBytes * 2) sink.text += text.slice(0, this.#limits.textBytes * 2);
  }

  #damagedByDepth(): boolean {
    return this.#elements.length >= this.#limits.depth;
  }

  text(text: string): void {
    const sink = this.#elements.at(-1)?.sink ?? null;
    if (sink === null) return;
    if (hasLiteralMarkup(text)) this.#issues.add('bareMarkup', this.#elements.at(-1)?.line ?? 0);
    this.#collect(text, sink);
  }

  cdata(text: string): void {
    const sink = this.#elements.at(-1)?.sink ?? null;
    if (sink !== null) this.#collect(text, sink);
  }

  take(): JunitCase[] {
    const taken = this.#done;
    this.#done = [];
    return taken;
  }

  finish(wholeXml: boolean, line: number): JunitSummary {
    const innermost = this.#elements.at(-1);
    const whole = wholeXml && innermost === undefined && !this.#damaged && this.#reports > 0;
    if (innermost !== undefined && !this.#damagedByDepth()) this.#issues.add('truncated', line, `<${innermost.name}>`);
    else if (!wholeXml && this.#reports > 0 && !this.#damagedByDepth()) this.#issues.add('truncated', line, 'a tag');
    while (this.#elements.length > 0) this.#leave((this.#elements.pop() as Element).kind, false);
    if (this.#tally.tests === 0 && this.#reports > 0) this.#issues.add('noCases', line);
    if (this.#tally.tests === 0 && this.#reports === 0 && this.#issues.counts().error === 0)
      this.#issues.add('noResults', line);
    return {
      seen: seenCounts(this.#tally),
      declared: this.#declared ?? NO_COUNTS,
      disagreements: this.#disagreements,
      unaccounted: this.#account.unaccounted(),
      suites: this.#suiteCount,
      reports: this.#reports,
      whole,
      issues: this.#issues.listed(),
      issueCounts: this.#issues.counts(),
    };
  }
}

function unclosedText({ name }: Element, isStructure: boolean): string {
  return isStructure ? name : `<${name}> is not closed.`;
}

/** Reporters write them into cases that failed in the end, and the other two into cases that passed. */
const FAILED_RERUNS: ReadonlySet<RerunKind> = new Set(['rerunFailure', 'rerunError']);
