const MOST_MS = 50;

/**
 * For how long callers wait for each other before the next common read or write. A busy database takes long for each:
 * waiting half as long as the last one took lets more callers share the next.
 */
export function gatherMs(leastMs: number, lastTookMs: number): number {
  return Math.min(Math.max(leastMs, lastTookMs / 2), MOST_MS);
}
