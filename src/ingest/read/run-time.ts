import type { Instant } from '../../lib/clock.ts';

/** Allows for clock differences between machines. */
const MAX_AHEAD_MS = 5 * 60_000;
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** The reported time of a run, or the time of receipt if that is missing or impossible. */
export function runTime(said: number | null, receivedAt: Instant): Instant {
  if (said === null || !(said <= receivedAt + MAX_AHEAD_MS && said >= receivedAt - MAX_AGE_MS)) return receivedAt;
  return Math.floor(said);
}
