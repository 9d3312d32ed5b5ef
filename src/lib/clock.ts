/** Milliseconds since 1970, UTC. Instants are numbers inside the program and become text at its edges. */
export type Instant = number;

export interface Clock {
  now(): Instant;
}

/** The shell reads the time and waits only through this interface, so that a simulation can replace both. */
export interface Timing extends Clock {
  /** Runs `act` once after this many milliseconds. Returns a function that cancels it. */
  after(ms: number, act: () => void): () => void;
}

/** Longer timers overflow and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Timing = {
  now: () => Date.now(),
  after: (ms, act) => {
    if (ms <= 0) {
      const turn = setImmediate(act);
      return () => clearImmediate(turn);
    }
    const timer = setTimeout(act, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

export function pause(clock: Timing, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function optionalInstant(instant: Instant | null | undefined): string | null {
  return instant === null || instant === undefined ? null : formatInstant(instant);
}
