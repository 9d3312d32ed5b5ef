import type { Timing } from './clock.ts';
import type { Log } from './log.ts';

export interface Rounds {
  readonly firstMs: number;
  /** A function is asked after each round. */
  readonly everyMs: number | (() => number | Promise<number>);
  /** A task that is woken soon after a round waits so long, and what comes meanwhile shares the next round. */
  readonly gatherMs?: number;
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
  /** Undefined while a round runs, while the next one is decided, and before the start. */
  #cancel: (() => void) | undefined;
  #isWoken = false;
  #isGathering = false;
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
    if (this.#cancel !== undefined && !this.#isGathering) this.#begin();
  }

  /** Waits for the round under way. Closing the forges, before or meanwhile, ends a round that hangs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#underWay;
  }

  #schedule(delayMs: number, act = () => this.#begin()): void {
    if (!this.#isStopped) this.#cancel = this.#clock.after(delayMs, act);
  }

  #begin(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#underWay = this.#run();
  }

  async #run(): Promise<void> {
    const { gatherMs = 0 } = this.#rounds;
    do {
      this.#isWoken = false;
      await this.#runRound();
    } while (this.#isWoken && !this.#isStopped && gatherMs === 0);
    if (gatherMs === 0) return this.#rest();
    this.#isGathering = true;
    this.#schedule(gatherMs, () => {
      this.#isGathering = false;
      this.#cancel = undefined;
      if (this.#isWoken) this.#begin();
      else this.#underWay = this.#rest();
    });
  }

  async #rest(): Promise<void> {
    const { everyMs } = this.#rounds;
    const delayMs = typeof everyMs === 'number' ? everyMs : await everyMs();
    // It may have been woken while it asked.
    if (this.#isWoken && !this.#isStopped) this.#begin();
    else this.#schedule(delayMs);
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
