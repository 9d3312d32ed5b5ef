import type { Clock } from '../lib/clock.ts';

const FRESH_MS = 1_000;

/**
 * Runs `refresh` for whoever needs it, never twice at a time. A caller that arrives while one runs cannot know what
 * that one still sees, so it waits for the next, together with all others that arrive meanwhile.
 */
export class Refresher {
  readonly #refresh: () => Promise<void>;
  readonly #clock: Clock;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #freshAt = -Infinity;

  constructor(refresh: () => Promise<void>, clock: Clock) {
    this.#refresh = refresh;
    this.#clock = clock;
  }

  ensureFresh(): Promise<void> {
    const age = this.#clock.now() - this.#freshAt;
    if (age >= 0 && age < FRESH_MS) return Promise.resolve();
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const startedAt = this.#clock.now();
    const running = this.#refresh()
      .then(() => {
        // What was read is as old as the question, not as the answer.
        this.#freshAt = startedAt;
      })
      .finally(() => {
        this.#running = undefined;
      });
    this.#running = running;
    return running;
  }
}
