import type { Clock } from '../lib/clock.ts';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Each key may make `perSecond` requests a second, with a burst of one second's worth. */
// SPEC A9
export class RateLimit {
  readonly #perSecond: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** 0: the request may proceed. Otherwise the seconds until a retry. */
  spend(key: string): number {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: Math.max(1, this.#perSecond), filledAt: now };
    // A clock that was set back changes nothing.
    const earned = (Math.max(0, now - bucket.filledAt) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(Math.max(1, this.#perSecond), bucket.tokens + earned);
    bucket.filledAt = now;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perSecond);
    bucket.tokens -= 1;
    return 0;
  }
}
