import { Worker } from 'node:worker_threads';
import type { Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ForecastInput, ReplayInput, Simulator } from '../simulator.ts';
import type { TASKS } from './tasks.ts';

type TaskKind = keyof typeof TASKS;

export interface Asked {
  readonly no: number;
  readonly kind: TaskKind;
  readonly input: unknown;
}

export type Answered =
  | { readonly no: number; readonly result: unknown }
  | { readonly no: number; readonly problem: string };

interface Open {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** A thread without work costs memory and nothing else. It ends after this time. */
const IDLE_MS = 5 * 60_000;
const HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/** Runs tasks one after the other in a thread that starts with the first task. A crash fails the open tasks only. */
export class SimulatorThread implements Simulator {
  readonly #entry: URL;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #open = new Map<number, Open>();
  #worker: Worker | undefined;
  #asked = 0;
  #isStopped = false;
  #cancelEnd: (() => void) | undefined;

  constructor({ entry, clock, log }: { readonly entry: URL; readonly clock: Timing; readonly log: Log }) {
    this.#entry = entry;
    this.#clock = clock;
    this.#log = log;
  }

  forecast(input: ForecastInput) {
    return this.#run('forecast', input);
  }

  replay(input: ReplayInput) {
    return this.#run('replay', input);
  }

  async #run<Kind extends TaskKind>(kind: Kind, input: unknown): Promise<ReturnType<(typeof TASKS)[Kind]>> {
    if (this.#isStopped) throw new Error('The server is stopping.');
    this.#cancelEnd?.();
    this.#cancelEnd = undefined;
    this.#asked += 1;
    const no = this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<(typeof TASKS)[Kind]>>();
    this.#open.set(no, { resolve, reject });
    this.#worker ??= this.#launch();
    this.#worker.postMessage({ no, kind, input } satisfies Asked);
    return promise;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelEnd?.();
    await this.#worker?.terminate();
  }

  #launch(): Worker {
    const worker = new Worker(this.#entry, { resourceLimits: HEAP });
    worker.on('message', (answer: Answered) => this.#hear(answer));
    worker.on('error', (error) => this.#log.error({ err: error }, 'simulator thread failed'));
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#open.values()) reject(new Error('The simulator thread ended.'));
      this.#open.clear();
    });
    return worker;
  }

  #hear(answer: Answered): void {
    const open = this.#open.get(answer.no);
    this.#open.delete(answer.no);
    if ('problem' in answer) open?.reject(new Error(answer.problem));
    else open?.resolve(answer.result as never);
    if (this.#open.size === 0) this.#cancelEnd = this.#clock.after(IDLE_MS, () => void this.#end());
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
