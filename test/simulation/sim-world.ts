import type { Instant, Timing } from '../../src/lib/clock.ts';
import { Prng } from '../../src/lib/prng.ts';
import { type Task, TaskHeap } from '../../src/lib/task-heap.ts';
import type { Weather } from '../fake/weather.ts';
import { type ProcessOptions, SimProcess } from './sim-process.ts';

export interface SimOptions {
  readonly seed: number | string;
  readonly startAt?: Instant;
  /** Timers are never early and at most this late. */
  readonly jitterMs?: number;
  /** More tasks than this mean an endless loop. */
  readonly maxTasks?: number;
}

const START_AT = Date.UTC(2025, 0, 1);
const JITTER_MS = 3;
const MAX_TASKS = 1_000_000;
/** The world waits only for started acts, and those take a few turns of the event loop. */
const MAX_TURNS = 100_000;

/**
 * A world with its own time. Everything in it is a task at an instant, and randomness comes from the seed. After each
 * task everything that follows at once happens before the next task.
 */
export class SimWorld implements Weather {
  readonly seed: number | string;
  readonly random: Prng;
  /** For everything outside the servers: people, forges and CI. */
  readonly timers: Timing = {
    now: () => this.now,
    after: (ms, act) => this.schedule(ms, act),
  };
  readonly faults = new Map<string, number>();
  now: Instant;
  isCalm = false;
  readonly #ties: Prng;
  readonly #heap = new TaskHeap();
  readonly #jitterMs: number;
  readonly #maxTasks: number;
  readonly #observers: (() => void)[] = [];
  #tasks = 0;
  #underWay = 0;

  constructor({ seed, startAt = START_AT, jitterMs = JITTER_MS, maxTasks = MAX_TASKS }: SimOptions) {
    this.seed = seed;
    this.now = startAt;
    this.random = new Prng(seed);
    this.#ties = this.random.fork();
    this.#jitterMs = jitterMs;
    this.#maxTasks = maxTasks;
  }

  get tasks(): number {
    return this.#tasks;
  }

  /** Runs `act` after this time, plus some jitter. Returns a function that cancels it. */
  schedule(ms: number, act: () => void): () => void {
    const at = this.now + Math.max(0, Math.ceil(ms)) + this.#ties.integer(this.#jitterMs + 1);
    const task: Task = { at, tie: this.#ties.next(), act, isCalledOff: false };
    this.#heap.push(task);
    return () => {
      task.isCalledOff = true;
    };
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.schedule(ms, resolve);
    });
  }

  /** Starts a life of a server. A restart is another one. */
  spawn(options: ProcessOptions): SimProcess {
    return new SimProcess(this.timers, options);
  }

  /** Called after every task and everything that followed from it at once. */
  observe(observer: () => void): void {
    this.#observers.push(observer);
  }

  /** From now on no fault is injected. */
  calm(): void {
    this.isCalm = true;
  }

  count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** The injected faults by kind, with counts. */
  faultCounts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.faults].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Runs an act from outside. The next task waits for it. */
  async track<T>(act: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await act();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Runs until that instant, or until no task is left. */
  async runUntil(instant: Instant): Promise<void> {
    await this.#run(instant, () => false);
    this.now = Math.max(this.now, instant);
  }

  runFor(ms: number): Promise<void> {
    return this.runUntil(this.now + ms);
  }

  /** Whether the condition became true before that instant. It is checked after every task. */
  async runUntilTrue(condition: () => boolean, instant: Instant): Promise<boolean> {
    await this.#run(instant, condition);
    return condition();
  }

  /** Runs everything that waits for nothing but the event loop. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#underWay === 0) return;
    }
    throw new Error(`seed ${this.seed}: an act of the outside does not end`);
  }

  async #run(until: Instant, isDone: () => boolean): Promise<void> {
    await this.settle();
    while (!isDone()) {
      const task = this.#heap.peek();
      if (task === undefined || task.at > until) return;
      this.#heap.pop();
      if (task.isCalledOff) continue;
      this.#tasks += 1;
      if (this.#tasks > this.#maxTasks) throw new Error(`seed ${this.seed}: more than ${this.#maxTasks} tasks`);
      this.now = Math.max(this.now, task.at);
      task.act();
      await this.settle();
      for (const observer of this.#observers) observer();
    }
  }
}
