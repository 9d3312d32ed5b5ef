import type { Instant, Timing } from '../../src/lib/clock.ts';
import { Prng } from '../../src/lib/prng.ts';
import { type Task, TaskHeap } from '../../src/lib/task-heap.ts';
import type { Weather } from '../fake/weather.ts';
import { type ProcessOptions, SimProcess } from './sim-process.ts';

export interface SimOptions {
  readonly seed: number | string;
  readonly startAt?: Instant;
  /** Timing are never early, and up to this much late. */
  readonly jitterMs?: number;
  /** More tasks than this, and something goes round in circles. */
  readonly maxTasks?: number;
}

const START_AT = Date.UTC(2025, 0, 1);
const JITTER_MS = 3;
const MAX_TASKS = 1_000_000;
/** Only acts that were begun are waited for, and those take a few turns of the event loop. */
const MAX_TURNS = 100_000;

/**
 * A world with a time of its own: whatever happens in it is a task at an instant, and chance comes from the seed. After
 * each task everything that follows from it at once is let happen, before the next one.
 */
export class SimWorld implements Weather {
  readonly seed: number | string;
  readonly random: Prng;
  /** For what is no server's: people, forges and CI. */
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

  /** How many tasks were run. */
  get tasks(): number {
    return this.#tasks;
  }

  /** Runs `act` so much later, or a little after that; returns how to call it off. */
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

  /** A life of a server; a restart is another one. */
  spawn(options: ProcessOptions): SimProcess {
    return new SimProcess(this.timers, options);
  }

  /** Called after every task, when everything that followed from it has happened. */
  observe(observer: () => void): void {
    this.#observers.push(observer);
  }

  /** From now on nothing goes wrong on purpose. */
  calm(): void {
    this.isCalm = true;
  }

  count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** What went wrong on purpose, by kind, and how often. */
  faultCounts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.faults].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Carries out an act of the outside: the next task waits for it. */
  async track<T>(act: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await act();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Until that instant, or until nothing is left to do. */
  async runUntil(instant: Instant): Promise<void> {
    await this.#run(instant, () => false);
    this.now = Math.max(this.now, instant);
  }

  runFor(ms: number): Promise<void> {
    return this.runUntil(this.now + ms);
  }

  /** Whether it came true before that instant, looked at after every task. */
  async runUntilTrue(condition: () => boolean, instant: Instant): Promise<boolean> {
    await this.#run(instant, condition);
    return condition();
  }

  /** Lets happen what waits for nothing but its turn. */
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
