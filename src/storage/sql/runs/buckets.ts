import { TESTS_PER_BUCKET } from '../../test-ingest.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
/** So long that the history of a test is in few chunks, and so short that a week does not read much more than it. */
const PERIOD_MS = 5 * DAY_MS;

export function bucketOf(testNo: number): number {
  return Math.floor(testNo / TESTS_PER_BUCKET);
}

/** Chunks are of one period: what is old goes chunk by chunk. */
export function periodOf(instant: number): number {
  return Math.floor(instant / PERIOD_MS);
}
