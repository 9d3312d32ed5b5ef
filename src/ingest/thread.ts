/**
 * The main thread's handle on the ingest thread: starts it, restarts it after a crash, and exchanges messages with it.
 */
import { Worker } from 'node:worker_threads';
import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Timing } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { IngestLoop, StoredCheck } from './ingest-loop.ts';
import { type FromThread, type ThreadData, type ToThread, writeThreadLine } from './thread-messages.ts';

export interface IngestThread extends Omit<IngestLoop, 'runUntilIdle'> {
  /** The thread starts after a delay, or with the first wake: a starting server has other work first. */
  start(): void;
}

const RESTART = { firstMs: 200, capMs: 30_000 };
/** A thread that lived this long did not die during startup, so the backoff starts again. */
const LONG_LIFE_MS = 60_000;
/** After this time the thread is terminated, which is safe: uncommitted work does not count. */
const STOP_MS = 5_000;
/**
 * The live data (tests in memory, a part of an upload, the parser) takes a fraction of the heap; the rest is
 * short-lived garbage.
 */
const HEAP = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 24 };

export function createIngestThread(of: {
  readonly entry: URL;
  readonly data: Omit<ThreadData, 'crashes'>;
  readonly clock: Timing;
  readonly log: Log;
  /** The thread has a store but no forge. */
  readonly findPlace: (question: PlaceQuestion) => Promise<UploadPlace>;
  readonly firstStartMs: number;
}): IngestThread {
  return new Thread(of);
}

class Thread implements IngestThread {
  readonly #entry: URL;
  readonly #data: Omit<ThreadData, 'crashes'>;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #firstStartMs: number;
  readonly #findPlace: (question: PlaceQuestion) => Promise<UploadPlace>;
  readonly #listeners = new Set<(result: StoredCheck) => void>();
  readonly #crashes = new Map<string, number>();
  #worker: Worker | undefined;
  #startedAt = 0;
  #deaths = 0;
  #workingOn: string | undefined;
  #isStopped = false;
  #hasStarted = false;
  /** Until it reports ready it has no work under way. */
  #isReady = false;
  #stills = 0;
  #isStill = false;
  #onStill: (() => void)[] = [];
  #onExit: (() => void)[] = [];
  #cancel: (() => void) | undefined;

  constructor({ entry, data, clock, log, findPlace, firstStartMs }: Parameters<typeof createIngestThread>[0]) {
    this.#entry = entry;
    this.#data = data;
    this.#clock = clock;
    this.#log = log;
    this.#findPlace = findPlace;
    this.#firstStartMs = firstStartMs;
  }

  start(): void {
    this.#hasStarted = true;
    this.#cancel = this.#clock.after(this.#firstStartMs, () => this.#launch());
  }

  #launch(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#isStopped || this.#worker !== undefined || this.#stills > 0) return;
    const workerData: ThreadData = { ...this.#data, crashes: [...this.#crashes] };
    const worker = new Worker(this.#entry, { workerData, resourceLimits: HEAP });
    this.#worker = worker;
    this.#startedAt = this.#clock.now();
    worker.on('message', (message: FromThread) => this.#hear(message));
    worker.on('error', (error) => this.#log.error({ err: error }, 'ingest thread failed'));
    worker.on('exit', () => this.#exited());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = new Promise<void>((resolve) => this.#onExit.push(resolve));
    this.#say({ kind: 'stop' });
    const cancel = this.#clock.after(this.#isReady ? STOP_MS : 0, () => void worker.terminate());
    await exited;
    cancel();
  }

  wake(): void {
    if (this.#hasStarted && this.#startedAt === 0) this.#launch();
    this.#say({ kind: 'wake' });
  }

  async withWritesPaused<T>(action: () => Promise<T>): Promise<T> {
    this.#stills += 1;
    try {
      if (this.#worker !== undefined && !this.#isStill) {
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

  #goOn(): void {
    this.#isStill = false;
    this.#say({ kind: 'resume' });
    // A thread that died while writes were paused was not restarted.
    if (this.#hasStarted && this.#cancel === undefined) this.#launch();
  }

  #say(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  #hear(message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
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
        return writeThreadLine(this.#log, message);
    }
  }

  #answer(no: number, question: PlaceQuestion): void {
    this.#findPlace(question).then(
      (place) => this.#say({ kind: 'place', no, place }),
      (error: unknown) => {
        this.#log.warn({ err: error, sha: question.sha }, 'could not find the origin of an upload');
        this.#say({ kind: 'place', no, place: undefined });
      },
    );
  }

  #exited(): void {
    this.#worker = undefined;
    this.#isReady = false;
    this.#isStill = false;
    // A dead thread writes no more, so the waiters are released.
    this.#settle(this.#onStill);
    this.#settle(this.#onExit);
    if (this.#isStopped) return;
    const blamed = this.#workingOn;
    this.#workingOn = undefined;
    if (blamed !== undefined) this.#crashes.set(blamed, (this.#crashes.get(blamed) ?? 0) + 1);
    if (this.#clock.now() - this.#startedAt > LONG_LIFE_MS) this.#deaths = 0;
    const delayMs = backoffMs(this.#deaths, { ...RESTART, spread: Math.random() });
    this.#deaths += 1;
    this.#log.error({ upload: blamed, delayMs }, 'ingest thread ended, restarting');
    this.#cancel = this.#clock.after(delayMs, () => this.#launch());
  }

  #settle(waiting: (() => void)[]): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
}
