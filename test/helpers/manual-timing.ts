import type { Instant, Timing } from '../../src/lib/clock.ts';

/** A clock that the test moves. */
export class ManualTiming implements Timing {
  #now: Instant;
  #timers: readonly { readonly at: Instant; readonly act: () => void }[] = [];

  constructor(now: Instant = Date.parse('2026-03-01T12:00:00Z')) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now;
  }

  after(ms: number, act: () => void): () => void {
    const timer = { at: this.#now + ms, act };
    this.#timers = [...this.#timers, timer].toSorted((a, b) => a.at - b.at);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Fires the timers that fall due, each at its own time, and lets their promises continue. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const [next] = this.#timers;
      if (next === undefined || next.at > end) break;
      this.#timers = this.#timers.slice(1);
      this.#now = Math.max(this.#now, next.at);
      next.act();
    }
    this.#now = end;
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
