import type { Instant, Timing } from '../../src/lib/clock.ts';

/** Settles never. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

export interface ProcessOptions {
  readonly name: string;
  /** Of its clock, against the world's. */
  readonly skewMs?: number;
  /** Called once, when it has crashed. */
  readonly onCrash?: (process: SimProcess) => void;
}

/**
 * One life of a server. When it crashes its timers are gone, and what it waits for never comes; what already went out
 * goes on without it. A restart is another process.
 */
export class SimProcess {
  readonly name: string;
  /** The server's own time. */
  readonly clock: Timing;
  /** Of its clock, against the world's; may change at any time, as clocks do. */
  skewMs: number;
  readonly #onCrash: ((process: SimProcess) => void) | undefined;
  #isAlive = true;

  constructor(timers: Timing, { name, skewMs = 0, onCrash }: ProcessOptions) {
    this.name = name;
    this.skewMs = skewMs;
    this.#onCrash = onCrash;
    this.clock = {
      now: (): Instant => timers.now() + this.skewMs,
      after: (ms, act) => {
        if (!this.#isAlive) return () => undefined;
        return timers.after(ms, () => {
          if (this.#isAlive) act();
        });
      },
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** From now on nothing that it does reaches anybody. */
  crash(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#onCrash?.(this);
  }

  /** An orderly end: the same, but nobody is told. */
  end(): void {
    this.#isAlive = false;
  }

  /** The answer as this process sees it: not at all, once it is dead. */
  async hear<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer;
      return this.#isAlive ? value : await never<T>();
    } catch (error) {
      if (!this.#isAlive) return never<T>();
      throw error;
    }
  }
}
