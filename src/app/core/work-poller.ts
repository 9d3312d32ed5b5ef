import type { Instant } from '../../lib/clock.ts';
import type { App } from './app.ts';

/** Polls also without a wake: another server may have stored work and died. */
const POLL_EVERY_MS = 5_000;

export interface WorkSource {
  /** Names the work in the log. */
  readonly what: string;
  /** Claims the work that is due and starts it, without waiting for its end. */
  claim(): Promise<void>;
  findNextDueAt(): Promise<Instant | undefined>;
  /** All workers are busy: a poll would find no free one, and the first that ends wakes the poller. */
  isBusy(): boolean;
}

/** Polls the store for work: on a wake, when work falls due, and every few seconds. One poll at a time. */
export class WorkPoller {
  readonly #app: Pick<App, 'clock' | 'log'>;
  readonly #source: WorkSource;
  #cancel: (() => void) | undefined;
  #isPolling = false;
  #polling: Promise<void> = Promise.resolve();
  #shouldPollAgain = false;
  #isStopped = false;

  constructor(app: Pick<App, 'clock' | 'log'>, source: WorkSource) {
    this.#app = app;
    this.#source = source;
  }

  wake(): void {
    this.#shouldPollAgain = true;
    if (this.#isPolling || this.#isStopped) return;
    this.#isPolling = true;
    this.#polling = this.#poll();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    this.#cancel?.();
    while (this.#shouldPollAgain && !this.#isStopped) {
      this.#shouldPollAgain = false;
      try {
        await this.#source.claim();
      } catch (error) {
        // The store is away for a moment; the next poll finds the same work.
        this.#app.log.warn({ err: error }, `could not poll for ${this.#source.what}`);
      }
    }
    this.#isPolling = false;
    if (!this.#isStopped) await this.#sleep();
  }

  async #sleep(): Promise<void> {
    const { clock } = this.#app;
    const dueAt = await this.#source.findNextDueAt().catch(() => undefined);
    if (this.#isStopped || this.#isPolling) return;
    const delayMs = Math.min(POLL_EVERY_MS, Math.max(1, (dueAt ?? Number.POSITIVE_INFINITY) - clock.now()));
    this.#cancel?.();
    this.#cancel = clock.after(this.#source.isBusy() ? POLL_EVERY_MS : delayMs, () => this.wake());
  }
}
