import type { Instant } from '../lib/clock.ts';
import { Fault } from '../lib/fault.ts';

/** Something that this server cannot find out at present. */
export interface Outage {
  readonly text: string;
  readonly since: Instant;
}

/** What this server looks at again and again, in vain: of repositories and of entries, by their ids. */
export class Outages {
  readonly #outages = new Map<string, Outage>();

  begin(id: string, error: unknown, now: Instant): void {
    this.#outages.set(id, { text: textOf(error), since: this.#outages.get(id)?.since ?? now });
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
