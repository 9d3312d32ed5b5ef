import { systemClock, type Timing } from '../../../src/lib/clock.ts';

/** Real time multiplied by `speed`. */
export function createFastClock(speed: number): Timing {
  const startedAt = systemClock.now();
  const from = performance.now();
  return {
    now: () => Math.floor(startedAt + (performance.now() - from) * speed),
    after: (ms, act) => systemClock.after(ms / speed, act),
  };
}
