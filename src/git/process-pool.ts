import type { KeptProcessLimits, KeptProcessOptions, KeptProcessOwner } from './kept-process.ts';
import { KeptProcess } from './kept-process.ts';

export interface ProcessPoolOptions extends Partial<KeptProcessLimits> {
  readonly maxProcesses?: number;
}

const DEFAULTS = { idleMs: 60_000, answerMs: 60_000, answersPerProcess: 20_000, maxProcesses: 64 };

/** Above `maxProcesses` the longest idle one ends. Busy ones never do, so that the number may be exceeded. */
export class ProcessPool implements KeptProcessOwner {
  readonly #limits: Required<ProcessPoolOptions>;
  /** Processes that accept questions, least recently used first. */
  readonly #kept = new Set<KeptProcess<unknown>>();
  /** The exit and the id of every running process. */
  readonly #ends = new Map<Promise<void>, number | undefined>();
  #isClosed = false;

  constructor(options: ProcessPoolOptions = {}) {
    this.#limits = { ...DEFAULTS, ...options };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get pids(): readonly number[] {
    return [...this.#ends.values()].filter((pid) => pid !== undefined);
  }

  add<Answer>(options: KeptProcessOptions<Answer>): KeptProcess<Answer> {
    return new KeptProcess<Answer>(options, this.#limits, this);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const kept of this.#kept) kept.kill();
    await Promise.all(this.#ends.keys());
  }

  onStart(pid: number | undefined, ended: Promise<void>): void {
    this.#ends.set(ended, pid);
    void ended.finally(() => this.#ends.delete(ended));
  }

  onBusy(kept: KeptProcess<unknown>): void {
    this.#kept.delete(kept);
    this.#kept.add(kept);
    this.#trim();
  }

  onIdle(): void {
    this.#trim();
  }

  onEnd(kept: KeptProcess<unknown>): void {
    this.#kept.delete(kept);
  }

  #trim(): void {
    for (const kept of this.#kept) {
      if (this.#kept.size <= this.#limits.maxProcesses) return;
      if (kept.isIdle) kept.retire();
    }
  }
}
