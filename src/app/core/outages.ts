import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';

/** A forge or a part of it that this server cannot read at present. */
export interface Outage {
  readonly text: string;
  readonly since: Instant;
}

/** An entry that left the queue is not polled again, so that no poll ends its outage. */
const FORGOTTEN_MS = 10 * 60_000;
const KEPT = 1_000;

/** Repositories and entries that this server polls in vain, by their ids. */
export class Outages {
  readonly #outages = new Map<string, Outage & { readonly seenAt: Instant }>();

  begin(id: string, error: unknown, now: Instant): void {
    if (this.#outages.size >= KEPT) this.#forget(now);
    this.#outages.set(id, { text: textOf(error), since: this.#outages.get(id)?.since ?? now, seenAt: now });
  }

  #forget(now: Instant): void {
    for (const [id, { seenAt }] of this.#outages) if (now - seenAt > FORGOTTEN_MS) this.#outages.delete(id);
  }

  end(id: string): void {
    this.#outages.delete(id);
  }

  find(id: string): Outage | undefined {
    return this.#outages.get(id);
  }
}

/** The API shows faults of the forge. Other errors go to the log alone. */
function textOf(error: unknown): string {
  return error instanceof Fault ? error.detail : 'An error that the log of the server tells more about.';
}
