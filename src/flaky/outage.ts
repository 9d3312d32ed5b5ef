/**
 * Where far more tests fail than usual, not the tests but what they run on has failed: nothing of that says anything about
 * a test. What is usual is the median of the latest uploads of the same job, those of outages included: a suite that goes
 * on failing is not an outage for ever.
 */

export interface OutageProtection {
  readonly isEnabled: boolean;
  /** A fraction of the tests that ran, whatever is usual; null: far above what is usual. */
  readonly threshold: number | null;
}

/** Tests that ran, and those of them that failed without passing. */
export interface TestCounts {
  readonly ran: number;
  readonly failed: number;
}

/** In a small suite some tests that share a cause are a large share. */
const LEAST_RAN = 20;
const LEAST_FAILED = 10;
/** A suite that hardly ever fails may well have so many failures by a real change. */
const LEAST_SHARE = 0.15;
const TIMES_USUAL = 5;

/** The latest uploads that say what is usual. */
export const USUAL_UPLOADS = 11;

/** Whether the counts alone leave it open, so that what is usual has to be known. */
export function mayBeOutage(counts: TestCounts, { isEnabled, threshold }: OutageProtection): boolean {
  if (!isEnabled || counts.ran === 0) return false;
  if (threshold !== null) return shareOf(counts) > threshold;
  return counts.ran >= LEAST_RAN && counts.failed >= LEAST_FAILED && shareOf(counts) >= LEAST_SHARE;
}

/** `before` are the latest uploads of the same job. Without any, nothing usually fails. */
export function isOutage(counts: TestCounts, protection: OutageProtection, before: readonly TestCounts[]): boolean {
  if (!mayBeOutage(counts, protection)) return false;
  return protection.threshold !== null || shareOf(counts) >= limitFor(usualShare(before));
}

/** Several times the usual share; of a suite that usually fails a lot, half of what usually passes. */
function limitFor(usual: number): number {
  return Math.min(Math.max(LEAST_SHARE, TIMES_USUAL * usual), (1 + usual) / 2);
}

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
