import { Worker } from 'node:worker_threads';
import type { Timing } from './clock.ts';
import { Fault } from './fault.ts';
import type { Log } from './log.ts';

/** Functions of plain values that can be sent to a thread. */
type Tasks = Readonly<Record<string, (input: never) => unknown>>;

export interface Asked {
  readonly kind: string;
  readonly input: unknown;
}

export type Answered = { readonly result: unknown } | { readonly problem: string };

interface Task extends Asked {
  readonly timeoutMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

interface Options {
  readonly name: string;
  readonly entry: URL;
  readonly clock: Timing;
  readonly log: Log;
}

/** A thread without work costs memory and nothing else. It ends after this time. */
const IDLE_MS = 5 * 60_000;
const HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/** Runs tasks one after the other in a thread that starts with the first one. A crash fails the task under work only. */
export class TaskThread<Known extends Tasks> {
  readonly #options: Options;
  readonly #waiting: Task[] = [];
  #running: Task | undefined;
  #worker: Worker | undefined;
  #isStopped = false;
  #cancel: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Rejects after `timeoutMs` of work, and the thread ends. */
  run<Kind extends keyof Known & string>(
    kind: Kind,
    input: Parameters<Known[Kind]>[0],
    timeoutMs = Number.POSITIVE_INFINITY,
  ): Promise<ReturnType<Known[Kind]>> {
    if (this.#isStopped) return Promise.reject(stopping());
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Known[Kind]>>();
    this.#waiting.push({ kind, input, timeoutMs, resolve, reject });
    this.#next();
    return promise;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const error = stopping();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    await this.#end(error);
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#cancel?.();
    this.#cancel = undefined;
    const task = this.#waiting.shift();
    this.#running = task;
    if (task === undefined) {
      if (this.#worker !== undefined) this.#cancel = this.#options.clock.after(IDLE_MS, () => void this.#end());
      return;
    }
    const { kind, input, timeoutMs } = task;
    this.#worker ??= this.#launch();
    this.#worker.postMessage({ kind, input } satisfies Asked);
    if (!Number.isFinite(timeoutMs)) return;
    const error = new Error(`It took longer than ${timeoutMs / 1_000} seconds.`);
    this.#cancel = this.#options.clock.after(timeoutMs, () => void this.#end(error));
  }

  #launch(): Worker {
    const { name, entry, log } = this.#options;
    const worker = new Worker(entry, { resourceLimits: HEAP });
    worker.on('message', (answer: Answered) => {
      const task = this.#running;
      if (this.#worker !== worker || task === undefined) return;
      this.#running = undefined;
      if ('problem' in answer) task.reject(new Error(answer.problem));
      else task.resolve(answer.result as never);
      this.#next();
    });
    worker.on('error', (error) => log.error({ err: error }, `${name} thread failed`));
    worker.on('exit', () => {
      if (this.#worker === worker) void this.#end(new Error(`The ${name} thread ended.`));
    });
    return worker;
  }

  async #end(error?: Error): Promise<void> {
    const [worker, task] = [this.#worker, this.#running];
    this.#worker = undefined;
    this.#running = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
    if (error !== undefined) task?.reject(error);
    if (!this.#isStopped) this.#next();
    await worker?.terminate();
  }
}

function stopping(): Fault {
  return new Fault('SHUTTING_DOWN', 'The server is stopping.');
}
