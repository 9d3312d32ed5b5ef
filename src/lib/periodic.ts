import type { Timing } from './clock.ts';
import type { Log } from './log.ts';

export interface Rounds {
  readonly firstMs: number;
  /** A function is asked after each round. */
  readonly everyMs: number | (() => number | Promise<number>);
  /** The log line for a round that threw. The next round tries again. */
  readonly failure: string;
  round(isStopped: () => boolean): Promise<unknown>;
}

/** Runs a task in rounds, one after the other, and at once when it is woken. */
export class PeriodicTask {
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #rounds: Rounds;
  #underWay: Promise<void> = Promise.resolve();
  /** Undefined while a round runs, and before the start. */
  #cancel: (() => void) | undefined;
  #isWoken = false;
  #isStopped = false;

  constructor({ clock, log }: { readonly clock: Timing; readonly log: Log }, rounds: Rounds) {
    this.#clock = clock;
    this.#log = log;
    this.#rounds = rounds;
  }

  start(): void {
    this.#schedule(this.#rounds.firstMs);
  }

  /** A wake during a round is followed by another round. A task that was not started ignores it. */
  wake(): void {
    this.#isWoken = true;
    if (this.#cancel !== undefined) this.#begin();
  }

  /** Waits for the round under way. Closing the forges, before or meanwhile, ends a round that hangs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#underWay;
  }

  #schedule(delayMs: number): void {
    if (!this.#isStopped) this.#cancel = this.#clock.after(delayMs, () => this.#begin());
  }

  #begin(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#underWay = this.#run();
  }

  async #run(): Promise<void> {
    const { everyMs } = this.#rounds;
    let delayMs = 0;
    do {
      this.#isWoken = false;
      await this.#runRound();
      if (!this.#isWoken) delayMs = typeof everyMs === 'number' ? everyMs : await everyMs();
    } while (this.#isWoken && !this.#isStopped);
    this.#schedule(delayMs);
  }

  async #runRound(): Promise<void> {
    try {
      await this.#rounds.round(() => this.#isStopped);
    } catch (error) {
      // A stop makes rounds fail.
      if (!this.#isStopped) this.#log.warn({ err: error }, this.#rounds.failure);
    }
  }
}
