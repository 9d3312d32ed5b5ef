import type { Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { keyOfOutage } from '../../storage/past.ts';
import type { Store } from '../../storage/store.ts';

/** A forge or a part of it that this server cannot read at present. */
export interface Outage {
  readonly text: string;
  readonly since: Instant;
}

/** An entry that left the queue is not polled again, so that no poll ends its outage. */
const FORGOTTEN_MS = 10 * 60_000;
const KEPT = 1_000;

/** Called when an outage begins, is another one, or ends. */
type Record = (id: string, outage: Outage | undefined, at: Instant) => void;

/** Repositories and entries that this server polls in vain, by their ids. */
export class Outages {
  readonly #outages: Map<string, Outage & { readonly seenAt: Instant }>;
  readonly #record: Record;

  constructor(record: Record = () => {}, known: readonly (readonly [string, Outage])[] = []) {
    this.#record = record;
    this.#outages = new Map(known.map(([id, outage]) => [id, { ...outage, seenAt: outage.since }]));
  }

  begin(id: string, error: unknown, now: Instant): void {
    if (this.#outages.size >= KEPT) this.#forget(now);
    const known = this.#outages.get(id);
    // The API shows faults of the forge. Other errors go to the log alone.
    const text = error instanceof Fault ? error.detail : 'An error that the log of the server tells more about.';
    const outage = { text, since: known?.since ?? now };
    this.#outages.set(id, { ...outage, seenAt: now });
    if (known?.text !== outage.text) this.#record(id, outage, now);
  }

  #forget(now: Instant): void {
    for (const [id, { seenAt }] of this.#outages) if (now - seenAt > FORGOTTEN_MS) this.end(id, now);
  }

  end(id: string, now: Instant): void {
    if (this.#outages.delete(id)) this.#record(id, undefined, now);
  }

  /** The ids of those that a poll met since `since`. Another server may have read the rest by now. */
  listSeen(since: Instant): ReadonlySet<string> {
    return new Set([...this.#outages].flatMap(([id, { seenAt }]) => (seenAt >= since ? [id] : [])));
  }

  find(id: string): Outage | undefined {
    return this.#outages.get(id);
  }
}

interface Recording {
  readonly store: Store;
  readonly log: Log;
  readonly serverId: string;
}

/** A server that was taken away left its outages behind. They end when one of the others starts after this time. */
const ABANDONED_MS = 7 * 24 * 3_600_000;

export function endOutages(store: Store, serverId: string, at: Instant): Promise<void> {
  return store.past.endOutages(serverId, { at, before: at - ABANDONED_MS });
}

/** Stores outages for reads of the past, one write after the other. A write that fails is logged, and nothing waits. */
// SPEC Y4
export function recordOutages({ store, log, serverId }: Recording): Record {
  const key = keyOfOutage(serverId);
  let last = Promise.resolve();
  return (subject, outage, at) => {
    const begun = outage === undefined ? [] : [{ subject, key, body: JSON.stringify(outage) }];
    last = last
      .then(() => store.past.changeFacts(subject, [key], begun, at))
      .catch((error: unknown) => log.warn({ err: error }, 'could not store an outage'));
  };
}
