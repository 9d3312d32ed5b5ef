import type { Instant, Timing } from '../../src/lib/clock.ts';

/** Never settles. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

export interface ProcessOptions {
  readonly name: string;
  /** The offset of its clock to the clock of the world. */
  readonly skewMs?: number;
  /** Called once, after the crash. */
  readonly onCrash?: (process: SimProcess) => void;
}

/**
 * One life of a server. A crash drops its timers and the answers it waits for. Calls that were sent still run. A
 * restart is another process.
 */
export class SimProcess {
  readonly name: string;
  /** The server's own clock. */
  readonly clock: Timing;
  /** The offset of its clock to the clock of the world. It may change at any time. */
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

  /** From now on nothing it does has an effect. */
  crash(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#onCrash?.(this);
  }

  /** A clean end: like a crash, without the callback. */
  end(): void {
    this.#isAlive = false;
  }

  /** Passes the answer on while the process lives; never settles after its end. */
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
