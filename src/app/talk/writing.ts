import type { Instant } from '../../lib/clock.ts';

/** Somebody began to write something and has not said that it is done: until then nobody knows what it says. */
export interface Writing {
  /** The turn in which it is written. */
  readonly by: string;
  readonly at: Instant;
}

/** GitHub carries on for ten seconds with what it was asked for, also when whoever asked is gone. */
const ARRIVES_MS = 15_000;

/** For how long what another began to write may still arrive. Whoever waits before it is sent finds out afterwards. */
export function arrivesWithin(earlier: Writing | undefined, now: Instant): number {
  return earlier === undefined ? 0 : Math.max(0, earlier.at + ARRIVES_MS - now);
}
