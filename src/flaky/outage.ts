/**
 * If far more tests fail than usual, the infrastructure has failed, and the results say nothing about the tests. The
 * usual share is the median of the latest uploads of the same job, outages included: a suite that keeps failing stops
 * being an outage.
 */

export interface OutageProtection {
  readonly isEnabled: boolean;
  /** A fixed fraction of the tests that ran; null: far above the usual share. */
  readonly threshold: number | null;
}

/** Tests that ran, and those of them that failed without passing. */
export interface TestCounts {
  readonly ran: number;
  readonly failed: number;
}

/** In a small suite, a few tests with one cause are already a large share. */
const LEAST_RAN = 20;
const LEAST_FAILED = 10;
/** In a suite that hardly ever fails, a real change may well cause this many failures. */
const LEAST_SHARE = 0.15;
const TIMES_USUAL = 5;

/** Number of latest uploads that define the usual share. */
export const USUAL_UPLOADS = 11;

/** Decides from the counts alone. If true, the caller must read the usual share. */
export function mayBeOutage(counts: TestCounts, { isEnabled, threshold }: OutageProtection): boolean {
  if (!isEnabled || counts.ran === 0) return false;
  if (threshold !== null) return shareOf(counts) > threshold;
  return counts.ran >= LEAST_RAN && counts.failed >= LEAST_FAILED && shareOf(counts) >= LEAST_SHARE;
}

/** `before` are the latest uploads of the same job. Without any, the usual share is zero. */
// SPEC F17
export function isOutage(counts: TestCounts, protection: OutageProtection, before: readonly TestCounts[]): boolean {
  if (!mayBeOutage(counts, protection)) return false;
  return protection.threshold !== null || shareOf(counts) >= limitFor(usualShare(before));
}

/** Several times the usual share. For a suite that usually fails a lot: half of the usually passing share. */
function limitFor(usual: number): number {
  return Math.min(Math.max(LEAST_SHARE, TIMES_USUAL * usual), (1 + usual) / 2);
}

// SPEC F52
function usualShare(before: readonly TestCounts[]): number {
  const shares = before
    .filter(({ ran }) => ran > 0)
    .map(shareOf)
    .sort((one, other) => one - other);
  return shares[Math.floor(shares.length / 2)] ?? 0;
}

function shareOf({ ran, failed }: TestCounts): number {
  return failed / ran;
}
