import type { Instant } from '../../lib/clock.ts';
import type { App } from './app.ts';

/** Also without being told of any work: another server may have stored some and died. */
const POLL_EVERY_MS = 5_000;

export interface WorkSource {
  /** What is looked for, for the log. */
  readonly what: string;
  /** Takes what is due; what it takes goes on by itself. */
  claim(): Promise<void>;
  findNextDueAt(): Promise<Instant | undefined>;
  /** While every hand is busy there is no use in looking: whoever is done wakes. */
  isBusy(): boolean;
}

/** Looks for stored work: when it is woken, when some falls due, and now and then in any case. One look at a time. */
export class WorkPoller {
  readonly #app: Pick<App, 'clock' | 'log'>;
  readonly #watched: WorkSource;
  #cancel: (() => void) | undefined;
  #isLooking = false;
  #looking: Promise<void> = Promise.resolve();
  #shouldLookAgain = false;
  #isStopped = false;

  constructor(app: Pick<App, 'clock' | 'log'>, source: WorkSource) {
    this.#app = app;
    this.#watched = source;
  }

  /** There may be something to do. */
  wake(): void {
    this.#shouldLookAgain = true;
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    this.#looking = this.#look();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#looking;
  }

  async #look(): Promise<void> {
    this.#cancel?.();
    while (this.#shouldLookAgain && !this.#isStopped) {
      this.#shouldLookAgain = false;
      try {
        await this.#watched.claim();
      } catch (error) {
        // The store is away for a moment; the next look finds whatever was left.
        this.#app.log.warn({ err: error }, `could not look for ${this.#watched.what}`);
      }
    }
    this.#isLooking = false;
    if (!this.#isStopped) await this.#sleep();
  }

  async #sleep(): Promise<void> {
    const { clock } = this.#app;
    const dueAt = await this.#watched.findNextDueAt().catch(() => undefined);
    if (this.#isStopped || this.#isLooking) return;
    const delayMs = Math.min(POLL_EVERY_MS, Math.max(1, (dueAt ?? Number.POSITIVE_INFINITY) - clock.now()));
    this.#cancel?.();
    this.#cancel = clock.after(this.#watched.isBusy() ? POLL_EVERY_MS : delayMs, () => this.wake());
  }
}
