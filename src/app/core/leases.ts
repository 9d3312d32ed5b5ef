import { hash } from 'node:crypto';
import { backoffMs } from '../../lib/backoff.ts';
import type { Instant } from '../../lib/clock.ts';
import type { App } from './app.ts';

/** A living server renews its leases. The work of a server that died stays locked for at most this long. */
export const LEASE_MS = 20_000;
const RENEW_EVERY_MS = 5_000;

export interface Held {
  /** Ends the leases of this holder, left from before a restart. Undefined: the leases of every holder. */
  endLeases(holder: string | undefined): Promise<unknown>;
  renew(until: Instant): Promise<void>;
  isAnyHeld(): boolean;
}

/** Renews the leases of a server while it lives, and ends those left from before its restart. */
export class Leases {
  readonly #app: Pick<App, 'clock' | 'log' | 'store'>;
  readonly #held: Held;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(app: Pick<App, 'clock' | 'log' | 'store'>, held: Held) {
    this.#app = app;
    this.#held = held;
  }

  async begin(holder: string): Promise<void> {
    this.#renewLater();
    try {
      await this.#held.endLeases(this.#app.store.isShared ? holder : undefined);
    } catch (error) {
      // They run out by themselves, only later.
      this.#app.log.warn({ err: error }, 'could not end leases left from before the restart');
    }
  }

  /** From now on, leases are renewed only while work is still held. */
  stopping(): void {
    this.#isStopped = true;
  }

  end(): void {
    this.#cancel?.();
  }

  #renewLater(): void {
    this.#cancel = this.#app.clock.after(RENEW_EVERY_MS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    try {
      if (this.#held.isAnyHeld()) await this.#held.renew(this.#app.clock.now() + LEASE_MS);
    } catch (error) {
      // The next renewal may still be in time. If not, another server repeats the work, which is safe.
      this.#app.log.warn({ err: error }, 'could not renew leases');
    }
    if (!this.#isStopped || this.#held.isAnyHeld()) this.#renewLater();
  }
}

/** The same delay for the same attempt, so that a simulated run can be repeated; another one for other work. */
export function delayOf(id: string, attempts: number, retry: { readonly firstMs: number; readonly capMs: number }) {
  return backoffMs(attempts, { ...retry, spread: spreadOf(`${id} ${attempts}`) });
}

/** From 0 to 1, the same for the same text. It spreads retries of work that failed at the same time. */
export function spreadOf(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, 8), 16) / 0xffffffff;
}
