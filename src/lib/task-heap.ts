import type { Instant } from './clock.ts';

export interface Task {
  readonly at: Instant;
  /** Orders tasks of the same instant. */
  readonly tie: number;
  readonly act: () => void;
  isCalledOff: boolean;
}

/** A binary heap with the earliest task on top. */
export class TaskHeap {
  readonly #tasks: Task[] = [];

  get size(): number {
    return this.#tasks.length;
  }

  peek(): Task | undefined {
    return this.#tasks[0];
  }

  push(task: Task): void {
    const tasks = this.#tasks;
    let place = tasks.push(task) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (isBefore(tasks[above] as Task, task)) break;
      tasks[place] = tasks[above] as Task;
      place = above;
    }
    tasks[place] = task;
  }

  pop(): Task | undefined {
    const [first] = this.#tasks;
    const last = this.#tasks.pop();
    if (last !== undefined && last !== first) this.#sink(last);
    return first;
  }

  #sink(task: Task): void {
    const tasks = this.#tasks;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= tasks.length) break;
      if (below + 1 < tasks.length && isBefore(tasks[below + 1] as Task, tasks[below] as Task)) below += 1;
      if (isBefore(task, tasks[below] as Task)) break;
      tasks[place] = tasks[below] as Task;
      place = below;
    }
    tasks[place] = task;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}
