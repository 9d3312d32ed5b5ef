import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import { assert } from '../lib/assert.ts';
import { endPolitely, exitOf, gitFault, keepTail, stoppingFault } from './exec.ts';

/** Splits output into answers. It receives every chunk once and keeps the unfinished rest. */
export interface AnswerReader<Answer> {
  read(chunk: Buffer): readonly Answer[];
}

export interface KeptProcessOptions<Answer> {
  readonly purpose: string;
  readonly gitDir: string;
  start(): ChildProcessWithoutNullStreams;
  createReader(): AnswerReader<Answer>;
  /** Encodes questions that are asked together. */
  encode(lines: readonly string[]): string;
  /** How often a question is repeated after its process died. */
  readonly retries: number;
  /** Fewer than the limit of all, for a process whose answers take room on the disk. */
  readonly maxAnswers?: number | undefined;
  /** The process may be writing, so it is asked to exit before it is killed. */
  readonly isWriting?: boolean;
}

export interface KeptProcessLimits {
  readonly idleMs: number;
  /** Time limit of the oldest unanswered question. */
  readonly answerMs: number;
  /** A process is replaced after this many answers, since git never frees its object cache. */
  readonly answersPerProcess: number;
}

/** Told when a process starts, is used and ends, so that it can bound their number. */
export interface KeptProcessOwner {
  readonly isClosed: boolean;
  onStart(pid: number | undefined, ended: Promise<void>): void;
  onBusy(kept: KeptProcess<unknown>): void;
  onIdle(kept: KeptProcess<unknown>): void;
  onEnd(kept: KeptProcess<unknown>): void;
}

const BARREN_DEATHS = 2;

interface Question<Answer> {
  readonly lines: readonly string[];
  readonly answers: Answer[];
  deaths: number;
  resolve(answers: readonly Answer[]): void;
  reject(error: unknown): void;
}

interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  answered: number;
  /** It has given its maximum of answers and finishes what was sent. Later questions wait for its successor. */
  isSpent: boolean;
}

/**
 * One git process that answers lines in order, with many in flight. It starts with the first question, ends when idle,
 * and starts again with the next. When it dies, the question is repeated, so callers only notice a delay. It dies with
 * the server, because its stdin closes, and it keeps the event loop alive only while a question is open.
 */
export class KeptProcess<Answer> {
  readonly #options: KeptProcessOptions<Answer>;
  readonly #limits: KeptProcessLimits;
  readonly #owner: KeptProcessOwner;
  #running: Running | undefined;
  /** Sent questions, in the order of their answers. */
  #questions: Question<Answer>[] = [];
  #unsent: Question<Answer>[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Consecutive deaths without any answer. */
  #barrenDeaths = 0;

  constructor(options: KeptProcessOptions<Answer>, limits: KeptProcessLimits, owner: KeptProcessOwner) {
    this.#options = options;
    this.#limits = limits;
    this.#owner = owner;
  }

  get #maxAnswers(): number {
    return Math.min(this.#limits.answersPerProcess, this.#options.maxAnswers ?? Number.POSITIVE_INFINITY);
  }

  get isIdle(): boolean {
    return this.#questions.length === 0 && this.#unsent.length === 0;
  }

  ask(lines: readonly string[]): Promise<readonly Answer[]> {
    assert(!lines.some((line) => /[\n\0]/.test(line)), 'a question to git holds a line break or NUL');
    if (this.#owner.isClosed) return Promise.reject(stoppingFault());
    if (lines.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const question: Question<Answer> = { lines, answers: [], deaths: 0, resolve, reject };
      this.#unsent.push(question);
      // All questions of one event loop turn go out in one write, which costs as much as a single one.
      if (this.#unsent.length === 1) setImmediate(() => this.#sendUnsent());
    });
  }

  /** Ends the process unless a question is open. A later question starts another. */
  retire(): void {
    const running = this.#running;
    if (running === undefined || !this.isIdle) return;
    this.#running = undefined;
    clearTimeout(this.#timer);
    holdEventLoop(running.child, true);
    running.child.stdin.end();
    this.#owner.onEnd(this);
  }

  kill(): void {
    this.#rejectAll(stoppingFault());
    if (this.#running !== undefined) this.#end(this.#running.child);
    this.retire();
  }

  #sendUnsent(): void {
    const questions = this.#unsent;
    if (questions.length === 0) return;
    this.#unsent = [];
    const wasWaiting = this.#questions.length > 0;
    this.#questions.push(...questions);
    this.#send(questions);
    if (!wasWaiting) this.#onBusy();
  }

  #send(questions: readonly Question<Answer>[]): void {
    try {
      const running = this.#running ?? this.#start();
      this.#running = running;
      if (running.isSpent) return;
      running.child.stdin.write(questions.map(({ lines }) => this.#options.encode(lines)).join(''));
    } catch (error) {
      this.#rejectAll(error);
    }
  }

  #start(): Running {
    const child = this.#options.start();
    const running: Running = { child, answered: 0, isSpent: false };
    const stderr = keepTail(child);
    const reader = this.#options.createReader();
    child.stdout.on('data', (chunk: Buffer) => this.#onData(running, reader, chunk));
    const ended = exitOf(child).then(
      ({ code, signal }) =>
        this.#onEnd(running, {
          code,
          reason: gitFault(this.#options, stderr() || `its process ended (${signal ?? code})`),
        }),
      (reason: unknown) => this.#onEnd(running, { code: null, reason }),
    );
    this.#owner.onStart(child.pid, ended);
    return running;
  }

  #onData(running: Running, reader: AnswerReader<Answer>, chunk: Buffer): void {
    if (running !== this.#running) return;
    try {
      for (const answer of reader.read(chunk)) this.#onAnswer(running, answer);
    } catch {
      // An unreadable answer makes all later ones unreadable too. The process is ended, and handled like any other
      // death.
      this.#end(running.child);
    }
  }

  #onAnswer(running: Running, answer: Answer): void {
    const question = this.#questions[0];
    assert(question !== undefined, 'git answered a question nobody asked');
    running.answered += 1;
    this.#barrenDeaths = 0;
    question.answers.push(answer);
    if (question.answers.length < question.lines.length) return;
    this.#questions.shift();
    question.resolve(question.answers);
    if (running.answered >= this.#maxAnswers && !running.isSpent) {
      running.isSpent = true;
      running.child.stdin.end();
    }
    if (this.isIdle) this.#onIdle(running);
    else this.#timer?.refresh();
  }

  #onEnd(running: Running, exit: { code: number | null; reason: unknown }): void {
    if (running !== this.#running) return;
    this.#running = undefined;
    clearTimeout(this.#timer);
    this.#owner.onEnd(this);
    if (!running.isSpent || exit.code !== 0) this.#blame(exit.reason);
    if (this.#questions.length === 0) return;
    for (const question of this.#questions) question.answers.length = 0;
    this.#send(this.#questions);
    this.#onBusy();
  }

  /** Only the first unanswered question can have killed the process. */
  #blame(reason: unknown): void {
    const first = this.#questions[0];
    if (first === undefined) return;
    first.deaths += 1;
    this.#barrenDeaths += 1;
    // A process that dies before any answer will not answer the other questions either, and each retry costs a start.
    if (this.#barrenDeaths > BARREN_DEATHS) {
      this.#barrenDeaths = 0;
      this.#rejectAll(reason);
    } else if (first.deaths > this.#options.retries) this.#questions.shift()?.reject(reason);
  }

  #end(child: ChildProcessWithoutNullStreams): void {
    if (this.#options.isWriting === true) endPolitely(child);
    else child.kill('SIGKILL');
  }

  #rejectAll(reason: unknown): void {
    const questions = [...this.#questions, ...this.#unsent];
    this.#questions = [];
    this.#unsent = [];
    for (const question of questions) question.reject(reason);
  }

  #onBusy(): void {
    if (this.#running === undefined) return;
    clearTimeout(this.#timer);
    const { child } = this.#running;
    this.#timer = setTimeout(() => this.#end(child), this.#limits.answerMs);
    holdEventLoop(child, true);
    this.#owner.onBusy(this);
  }

  #onIdle(running: Running): void {
    clearTimeout(this.#timer);
    holdEventLoop(running.child, false);
    this.#timer = setTimeout(() => this.retire(), this.#limits.idleMs).unref();
    this.#owner.onIdle(this);
  }
}

function holdEventLoop(child: ChildProcessWithoutNullStreams, hold: boolean): void {
  for (const handle of [child, child.stdin, child.stdout, child.stderr] as readonly (ChildProcess | Socket)[]) {
    if (hold) handle.ref();
    else handle.unref();
  }
}
