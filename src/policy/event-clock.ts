import type { Instant } from '../lib/clock.ts';
import { type Task, TaskHeap } from '../lib/task-heap.ts';

/** A clock that jumps from one task to the next. Tasks of one instant run in the order in which they were added. */
export class EventClock {
  now: Instant;
  readonly #tasks = new TaskHeap();
  #asked = 0;

  constructor(startsAt: Instant) {
    this.now = startsAt;
  }

  /** Returns a function that cancels the task. */
  at(instant: Instant, act: () => void): () => void {
    const task: Task = { at: Math.max(instant, this.now), tie: this.#asked, act, isCalledOff: false };
    this.#asked += 1;
    this.#tasks.push(task);
    return () => {
      task.isCalledOff = true;
    };
  }

  after(ms: number, act: () => void): () => void {
    return this.at(this.now + ms, act);
  }

  get nextAt(): Instant | undefined {
    while (this.#tasks.peek()?.isCalledOff === true) this.#tasks.pop();
    return this.#tasks.peek()?.at;
  }

  /** Runs the next task; false if there is none. */
  advance(): boolean {
    if (this.nextAt === undefined) return false;
    const task = this.#tasks.pop();
    if (task === undefined) return false;
    this.now = task.at;
    task.act();
    return true;
  }
}
