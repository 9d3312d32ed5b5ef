import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';

/** Something that this server cannot find out at present. */
export interface Outage {
  readonly text: string;
  readonly since: Instant;
}

/** What has left the queue is not looked at again, and nobody says that its outage ended. */
const FORGOTTEN_MS = 10 * 60_000;
const KEPT = 1_000;

/** What this server looks at again and again, in vain: of repositories and of entries, by their ids. */
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

/** What is no fault of the world is for the log alone. */
function textOf(error: unknown): string {
  return error instanceof Fault ? error.detail : 'An error that the log of the server tells more about.';
}
