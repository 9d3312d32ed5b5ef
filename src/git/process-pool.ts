import type { KeptProcessLimits, KeptProcessOptions, KeptProcessOwner } from './kept-process.ts';
import { KeptProcess } from './kept-process.ts';

export interface ProcessPoolOptions extends Partial<KeptProcessLimits> {
  readonly maxProcesses?: number;
}

const DEFAULTS = { idleMs: 5 * 60_000, answerMs: 60_000, answersPerProcess: 20_000, maxProcesses: 64 };

/**
 * Sees to it that hundreds of repositories do not hold hundreds of processes: above `maxProcesses` the one that was
 * idle longest ends. Processes at work are never ended, so the number may be exceeded while all of them are.
 */
export class ProcessPool implements KeptProcessOwner {
  readonly #limits: Required<ProcessPoolOptions>;
  /** Those that may be asked, least recently used first. */
  readonly #kept = new Set<KeptProcess<unknown>>();
  /** The end of every process that is still there, and its id. */
  readonly #ends = new Map<Promise<void>, number | undefined>();
  #isClosed = false;

  constructor(options: ProcessPoolOptions = {}) {
    this.#limits = { ...DEFAULTS, ...options };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Of the processes that are there. */
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
