import type { Instant } from '../lib/clock.ts';
import { type Task, TaskHeap } from '../lib/task-heap.ts';

/** Time that jumps from one thing to the next; what is due at one instant happens in the order in which it was asked for. */
export class EventClock {
  now: Instant;
  readonly #tasks = new TaskHeap();
  #asked = 0;

  constructor(startsAt: Instant) {
    this.now = startsAt;
  }

  /** Returns how to call it off. */
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

  /** Does what is due next; false where there is nothing. */
  advance(): boolean {
    if (this.nextAt === undefined) return false;
    const task = this.#tasks.pop();
    if (task === undefined) return false;
    this.now = task.at;
    task.act();
    return true;
  }
}
