import { setImmediate as nextTurn } from 'node:timers/promises';

/** An embedded store answers at once: without a pause nobody else on this thread would ever be heard. */
const EVERY_MS = 20;

export function createYielder(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < EVERY_MS) return;
    await nextTurn();
    last = performance.now();
  };
}
