import { hash } from 'node:crypto';
import { backoffMs } from '../../lib/backoff.ts';
import type { Instant } from '../../lib/clock.ts';
import type { App } from './app.ts';

/** A server that dies in the middle of its work keeps the others from it for this long; one that lives renews it. */
export const LEASE_MS = 20_000;
const RENEW_EVERY_MS = 5_000;

export interface Held {
  /** Of those that were this server's before it started again; all others' where it is the only server. */
  endLeases(holder: string | undefined): Promise<unknown>;
  /** Whatever is held now. */
  renew(until: Instant): Promise<void>;
  isAnyHeld(): boolean;
}

/** Keeps the leases of a server alive for as long as it lives, and frees those of its former life. */
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
      // They end by themselves, only later.
      this.#app.log.warn({ err: error }, 'could not end the leases of a server that died');
    }
  }

  /** From now on they are renewed only while something is held. */
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
      // The next renewal may still be in time; if not, another server does the same work, and no harm.
      this.#app.log.warn({ err: error }, 'could not renew leases');
    }
    if (!this.#isStopped || this.#held.isAnyHeld()) this.#renewLater();
  }
}

/** The same for the same attempt, so that a run can be repeated; different for different work. */
export function delayOf(id: string, attempts: number, retry: { readonly firstMs: number; readonly capMs: number }) {
  return backoffMs(attempts, { ...retry, spread: spreadOf(`${id} ${attempts}`) });
}

/** From 0 to 1, the same for the same text: what begins together need not come back together. */
export function spreadOf(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, 8), 16) / 0xffffffff;
}
