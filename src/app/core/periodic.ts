import type { Timing } from '../../lib/clock.ts';

/** Runs a task in rounds, one after the other. A round must not throw. */
export class PeriodicTask {
  readonly #clock: Timing;
  readonly #times: { readonly firstMs: number; readonly everyMs: number };
  readonly #round: (isStopped: () => boolean) => Promise<void>;
  #cancel: (() => void) | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(
    clock: Timing,
    times: { readonly firstMs: number; readonly everyMs: number },
    round: (isStopped: () => boolean) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#times = times;
    this.#round = round;
  }

  start(): void {
    this.#schedule(this.#times.firstMs);
  }

  /** Waits for the round under way. Closing the forges, before or meanwhile, ends a round that hangs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#underWay;
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#underWay = this.#round(() => this.#isStopped).finally(() => this.#schedule(this.#times.everyMs));
    });
  }
}
