import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * An embedded store answers synchronously: without yielding, no message or timer of this thread would ever be handled.
 */
const EVERY_MS = 20;

export function createYielder(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < EVERY_MS) return;
    await nextTurn();
    last = performance.now();
  };
}
