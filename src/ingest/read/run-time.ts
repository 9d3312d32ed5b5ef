import type { Instant } from '../../lib/clock.ts';

/** Clocks differ. */
const MAX_AHEAD_MS = 5 * 60_000;
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** When a run took place: as its report says, or at receipt where that says nothing or cannot be true. */
export function runTime(said: number | null, receivedAt: Instant): Instant {
  if (said === null || !(said <= receivedAt + MAX_AHEAD_MS && said >= receivedAt - MAX_AGE_MS)) return receivedAt;
  return Math.floor(said);
}
