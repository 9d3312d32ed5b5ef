export const NOON = Date.UTC(2026, 8, 17, 12);

/** A clock that the test moves. Timers that are due at once fire at once. */
export class ManualClock {
  #now = NOON;
  #timers: { readonly at: number; readonly act: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  /** The number of timers that are set. */
  get waiting(): number {
    return this.#timers.length;
  }

  after(ms: number, act: () => void): () => void {
    if (ms <= 0) {
      const turn = setImmediate(act);
      return () => clearImmediate(turn);
    }
    const timer = { at: this.#now + ms, act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers keep their remaining time. */
  setBack(ms: number): void {
    this.#now -= ms;
    this.#timers = this.#timers.map(({ at, act }) => ({ at: at - ms, act }));
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.act();
      await settle();
    }
    this.#now = until;
  }
}

/** The longest chain of callbacks that end without a timer, with room to spare. */
const TURNS = 60;

export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
