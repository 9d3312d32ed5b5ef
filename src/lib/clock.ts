/** Milliseconds since 1970, UTC. Instants are kept as numbers everywhere inside and become text at the edges. */
export type Instant = number;

export interface Clock {
  now(): Instant;
}

/** What time it is, and how to wait: the shell's only way to either, so that a simulation can have a time of its own. */
export interface Timing extends Clock {
  /** Runs `act` once, after so many milliseconds; returns how to call it off. */
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
