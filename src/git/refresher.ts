import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';

/**
 * Runs `refresh` for whoever needs it, never twice at a time. A caller that arrives while one runs cannot know what
 * that one still sees, so it waits for the next, together with all others that arrive before that starts.
 */
export class Refresher {
  readonly #refresh: () => Promise<void>;
  readonly #clock: Pick<Clock, 'now'>;
  #running: Promise<void> | undefined;
  /** Asked for, not started. */
  #next: Promise<void> | undefined;
  #freshAt = -Infinity;

  constructor(refresh: () => Promise<void>, clock: Pick<Clock, 'now'>) {
    this.#refresh = refresh;
    this.#clock = clock;
  }

  /** Resolves after a refresh that started after this call, or at most `maxAgeMs` before it. */
  ensureFresh(maxAgeMs = 0): Promise<void> {
    const age = this.#clock.now() - this.#freshAt;
    if (age >= 0 && age < maxAgeMs) return Promise.resolve();
    this.#next ??= this.#startNext();
    return this.#next;
  }

  async #startNext(): Promise<void> {
    // Who asks in the same turn of the event loop shares the refresh.
    await (this.#running ?? nextTurn()).catch(() => undefined);
    this.#next = undefined;
    const startedAt = this.#clock.now();
    this.#running = this.#refresh();
    try {
      await this.#running;
      // What was read is as old as the question, not as the answer.
      this.#freshAt = startedAt;
    } finally {
      this.#running = undefined;
    }
  }
}
