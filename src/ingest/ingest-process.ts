/**
 * The server's handle on the ingest process: starts it when there is work, ends it when it is idle, watches its memory
 * and its progress from outside, and exchanges messages with it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { PeriodicTask } from '../lib/periodic.ts';
import type { Store } from '../storage/store.ts';
import { createBacklogWatch } from './backlog-watch.ts';
import type { IngestLoop, StoredCheck } from './ingest-loop.ts';
import {
  FIRST_RETENTION_MS,
  type FromProcess,
  type ProcessData,
  type ToProcess,
  writeProcessLine,
} from './process-messages.ts';
import { LEASE_MS } from './upload-turns.ts';

export interface IngestProcess extends Omit<IngestLoop, 'runUntilIdle'> {
  /** From now on the process starts when there is work; what an earlier server left waits for `firstStartMs`. */
  start(): void;
  /** For metrics. */
  watched(): IngestWatched;
}

/** The ingest process as the server sees it. */
export interface IngestWatched {
  readonly residentBytes: number;
  /** How long the process has made no step; 0 if none runs. */
  readonly silentMs: number;
  /** How often the server ended it, since the server started. */
  readonly kills: Readonly<Record<KillReason, number>>;
}

type KillReason = 'memory' | 'stuck';

export interface ProcessLimits {
  /** Of JavaScript objects. The live data (tests in memory, a part of an upload, the parser) takes a fraction of it. */
  readonly heapMegabytes: number;
  /** Of the whole process. */
  readonly residentBytes: number;
  readonly silentMs: number;
}

const MEGABYTE = 1024 * 1024;
export const PROCESS_LIMITS: ProcessLimits = {
  heapMegabytes: 640,
  residentBytes: 1024 * MEGABYTE,
  // A statement of PostgreSQL ends after 30 s, and a pause between two attempts after 10 s.
  silentMs: 60_000,
};

const RESTART = { firstMs: 200, capMs: 30_000 };
/** A process that lived this long did not die during startup, so the backoff starts again. */
const LONG_LIFE_MS = 60_000;
/** After this time the process is killed, which is safe: uncommitted work does not count. */
const STOP_MS = 5_000;
const WATCH_MS = 500;
/** Work that comes without a wake: statuses that end by themselves, and uploads that another server left. */
const LOOK_MS = { own: 5_000, shared: 15_000 };
const DAY_MS = 86_400_000;
const LAST_WORDS = 2_000;

export interface IngestProcessOptions {
  readonly entry: URL;
  readonly data: Omit<ProcessData, 'serverPid' | 'crashes' | 'retentionAt'>;
  readonly store: Store;
  readonly clock: Timing;
  readonly log: Log;
  /** The process has a store but no forge. */
  readonly findPlace: (question: PlaceQuestion) => Promise<UploadPlace>;
  readonly firstStartMs: number;
  readonly limits?: Partial<ProcessLimits>;
}

export function createIngestProcess(options: IngestProcessOptions): IngestProcess {
  return new Handle(options);
}

class Handle implements IngestProcess {
  readonly #options: IngestProcessOptions;
  readonly #limits: ProcessLimits;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #listeners = new Set<(result: StoredCheck) => void>();
  readonly #crashes = new Map<string, { readonly count: number; readonly reason: string }>();
  readonly #kills = { memory: 0, stuck: 0 };
  readonly #watch: PeriodicTask;
  readonly #looks: PeriodicTask;
  #child: ChildProcess | undefined;
  #startedAt: Instant = 0;
  /** Of the last step, or of the last message before the first one. */
  #progressAt: Instant = 0;
  #steps = 0;
  #residentBytes = 0;
  #lastWords = '';
  #killedFor: KillReason | undefined;
  #deaths = 0;
  #workingOn: string | undefined;
  #hasStarted = false;
  #isStopped = false;
  /** Until it reports ready it has no work under way. */
  #isReady = false;
  /** It was told to end because it is idle. */
  #isEnding = false;
  #stills = 0;
  #isStill = false;
  #onStill: (() => void)[] = [];
  #onExit: (() => void)[] = [];
  #cancelRestart: (() => void) | undefined;
  #retentionAt: Instant;
  #day = 0;

  constructor(options: IngestProcessOptions) {
    const { clock, log, store, firstStartMs } = options;
    this.#options = options;
    this.#limits = { ...PROCESS_LIMITS, ...options.limits };
    this.#clock = clock;
    this.#log = log;
    this.#retentionAt = clock.now() + FIRST_RETENTION_MS;
    const watchBacklog = createBacklogWatch({ uploadWork: store.uploadWork, clock, log });
    this.#watch = new PeriodicTask(
      { clock, log },
      { firstMs: WATCH_MS, everyMs: WATCH_MS, failure: 'ingest watch failed', round: async () => this.#look() },
    );
    this.#looks = new PeriodicTask(
      { clock, log },
      {
        firstMs: firstStartMs,
        everyMs: store.isShared ? LOOK_MS.shared : LOOK_MS.own,
        failure: 'could not look for uploads',
        round: async () => {
          if (this.#child === undefined && (await this.#hasWork())) this.#launch();
          await watchBacklog();
        },
      },
    );
  }

  start(): void {
    this.#hasStarted = true;
    this.#looks.start();
    this.#watch.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRestart?.();
    await Promise.all([this.#endChild(), this.#watch.stop(), this.#looks.stop()]);
  }

  wake(): void {
    if (this.#child === undefined) this.#launch();
    else this.#say({ kind: 'wake' });
  }

  async withWritesPaused<T>(action: () => Promise<T>): Promise<T> {
    this.#stills += 1;
    try {
      if (this.#child !== undefined && !this.#isStill) {
        const still = new Promise<void>((resolve) => this.#onStill.push(resolve));
        if (this.#stills === 1) this.#say({ kind: 'still' });
        await still;
      }
      return await action();
    } finally {
      this.#stills -= 1;
      if (this.#stills === 0) this.#goOn();
    }
  }

  onCheckResults(listener: (result: StoredCheck) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watched(): IngestWatched {
    const isRunning = this.#child !== undefined;
    const silentMs = isRunning && !this.#isStill ? Math.max(0, this.#clock.now() - this.#progressAt) : 0;
    return { residentBytes: isRunning ? this.#residentBytes : 0, silentMs, kills: { ...this.#kills } };
  }

  /** A process that died waits for its restart, and one during a restore for the end of that. */
  #launch(): void {
    if (!this.#hasStarted || this.#isStopped || this.#stills > 0) return;
    if (this.#child !== undefined || this.#cancelRestart !== undefined) return;
    const { entry, data } = this.#options;
    const execArgv = [`--max-old-space-size=${this.#limits.heapMegabytes}`, '--max-semi-space-size=8'];
    const child = fork(entry, { execArgv, serialization: 'advanced', stdio: ['pipe', 'ignore', 'pipe', 'ipc'] });
    this.#child = child;
    this.#startedAt = this.#clock.now();
    this.#progressAt = this.#startedAt;
    this.#day = dayOf(this.#startedAt);
    this.#residentBytes = 0;
    this.#lastWords = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
    });
    // It may end while it is written to.
    child.stdin?.on('error', () => undefined);
    child.on('message', (message) => this.#hear(message as FromProcess));
    child.on('error', (error) => {
      this.#log.error({ err: error }, 'ingest process failed');
      if (child.pid === undefined) this.#exited();
    });
    child.on('exit', () => this.#exited());
    const own = { serverPid: process.pid, crashes: this.#crashes, retentionAt: this.#retentionAt };
    this.#say({ kind: 'begin', data: { ...data, ...own } });
  }

  // SPEC H10
  async #endChild(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = new Promise<void>((resolve) => this.#onExit.push(resolve));
    this.#say({ kind: 'stop' });
    const cancel = this.#clock.after(this.#isReady ? STOP_MS : 0, () => child.kill('SIGKILL'));
    await exited;
    cancel();
  }

  #goOn(): void {
    this.#isStill = false;
    this.#progressAt = this.#clock.now();
    this.#say({ kind: 'resume' });
    this.#looks.wake();
  }

  #say(message: ToProcess): void {
    // The channel is closed while it ends.
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  #hear(message: FromProcess): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        this.#progressAt = this.#clock.now();
        return;
      case 'alive':
        return this.#note(message);
      case 'idle':
        this.#isEnding = true;
        void this.#endChild();
        return;
      case 'retained':
        this.#retentionAt = message.nextAt;
        return;
      case 'paused':
        this.#isStill = true;
        return this.#settle(this.#onStill);
      case 'where':
        return this.#answer(message.no, message.question);
      case 'working_on':
        this.#workingOn = message.uploadId;
        return;
      case 'stored':
        for (const listener of this.#listeners) listener(message.result);
        return;
      case 'log':
        return writeProcessLine(this.#log, message);
    }
  }

  #note({ steps, residentBytes }: FromProcess & { readonly kind: 'alive' }): void {
    this.#residentBytes = residentBytes;
    if (steps === this.#steps) return;
    this.#steps = steps;
    this.#progressAt = this.#clock.now();
  }

  // SPEC U91
  #look(): void {
    const pid = this.#child?.pid;
    if (pid === undefined || this.#killedFor !== undefined) return;
    this.#residentBytes = readResident(pid) ?? this.#residentBytes;
    if (this.#residentBytes > this.#limits.residentBytes) this.#kill('memory');
    else if (this.watched().silentMs > this.#limits.silentMs) this.#kill('stuck');
  }

  #kill(reason: KillReason): void {
    this.#killedFor = reason;
    this.#kills[reason] += 1;
    this.#child?.kill('SIGKILL');
  }

  // SPEC U92
  async #hasWork(): Promise<boolean> {
    const { store, data } = this.#options;
    const now = this.#clock.now();
    if (now >= this.#retentionAt || this.#day !== dayOf(now)) return true;
    return (
      (await store.uploadWork.listClaimable(data.holder, now, now + LEASE_MS)).length > 0 ||
      (await store.testSettings.listBehind()).length > 0 ||
      (await store.uploadWork.listToRecount()).length > 0 ||
      (await store.testUpkeep.listDue(now, 1)).length > 0
    );
  }

  #answer(no: number, question: PlaceQuestion): void {
    this.#options.findPlace(question).then(
      (place) => this.#say({ kind: 'place', no, place }),
      (error: unknown) => {
        this.#log.warn({ err: error, sha: question.sha }, 'could not find the origin of an upload');
        this.#say({ kind: 'place', no, place: undefined });
      },
    );
  }

  #exited(): void {
    const isExpected = this.#isEnding;
    const reason = this.#describeEnd();
    const blamed = this.#workingOn;
    this.#child = undefined;
    this.#workingOn = undefined;
    this.#killedFor = undefined;
    this.#isReady = false;
    this.#isStill = false;
    this.#isEnding = false;
    this.#steps = 0;
    // A dead process writes no more, so the waiters are released.
    this.#settle(this.#onStill);
    this.#settle(this.#onExit);
    if (this.#isStopped) return;
    // Work may have come while it ended.
    if (isExpected) return this.#looks.wake();
    if (blamed !== undefined) this.#crashes.set(blamed, { count: (this.#crashes.get(blamed)?.count ?? 0) + 1, reason });
    if (this.#clock.now() - this.#startedAt > LONG_LIFE_MS) this.#deaths = 0;
    const delayMs = backoffMs(this.#deaths, { ...RESTART, spread: Math.random() });
    this.#deaths += 1;
    const said = this.#lastWords.trim() === '' ? {} : { said: this.#lastWords.trim() };
    this.#log.error({ upload: blamed, reason, ...said, delayMs }, 'ingest process ended, restarting');
    this.#cancelRestart = this.#clock.after(delayMs, () => {
      this.#cancelRestart = undefined;
      this.#launch();
    });
  }

  /** The rest of a sentence about the process. */
  #describeEnd(): string {
    const { residentBytes, silentMs, heapMegabytes } = this.#limits;
    if (this.#killedFor === 'memory') return `took more than ${Math.round(residentBytes / MEGABYTE)} MB of memory`;
    if (this.#killedFor === 'stuck') return `made no step for ${Math.round(silentMs / 1_000)} s`;
    return /heap out of memory/.test(this.#lastWords) ? `took more than ${heapMegabytes} MB of memory` : 'crashed';
  }

  #settle(waiting: (() => void)[]): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
}

function dayOf(now: Instant): number {
  return Math.floor(now / DAY_MS);
}

/** Linux only; elsewhere the process itself tells. */
function readResident(pid: number): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
