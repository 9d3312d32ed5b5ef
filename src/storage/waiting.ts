import type { Instant } from '../lib/clock.ts';

export interface Waiting {
  /** The earliest instant at which one of each could be claimed; undefined if none waits. */
  readonly effectsAt: Instant | undefined;
  readonly hintsAt: Instant | undefined;
  readonly deliveriesAt: Instant | undefined;
  /** Events have no place in the feed yet. */
  readonly hasEvents: boolean;
  /** How many events have a place. Other servers give places, too. */
  readonly placed: number;
  /** A webhook has not been told of all of them. */
  readonly isWebhookBehind: boolean;
  readonly hasUploads: boolean;
  /** A queue has live entries. */
  readonly hasEntries: boolean;
}

export interface WaitingStore {
  /** One read for everything, so that an idle server asks little. */
  read(): Promise<Waiting>;
}

/** Tells when another process may have stored something. A signal may be lost: who listens also polls. */
export interface StoreSignals {
  /** How often to poll: seldom while signals arrive. */
  pollMs(): number;
  listen(listener: () => void): void;
}

/** A read of an embedded store costs next to nothing. */
export const NO_SIGNALS: StoreSignals = { pollMs: () => 1_000, listen: () => undefined };
