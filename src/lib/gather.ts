const MOST_MS = 50;

/** A busy database takes long for each read: waiting half as long as the last one took lets more callers share. */
export function gatherMs(leastMs: number, lastTookMs: number): number {
  return Math.min(Math.max(leastMs, lastTookMs / 2), MOST_MS);
}
