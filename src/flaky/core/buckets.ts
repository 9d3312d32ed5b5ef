/**
 * Counts of a rolling window, kept in slices. A slice counts until all of it is older than the window, so the window is
 * never shorter than configured and at most one slice longer.
 */
import type { Instant } from '../../lib/clock.ts';

/** More slices would follow the clock more closely, and make the state of every test larger. */
const SLICES = 24;
const MINUTE_MS = 60_000;

/**
 * Flat triples of slice number and two counts, ordered by slice; the monitor defines the meaning of the counts. One
 * list exists per test: a hundred thousand nested lists would cost more memory than the counts in them.
 */
export type Buckets = readonly number[];

const WIDTH = 3;

export function sliceMs(windowMs: number): number {
  return Math.max(MINUTE_MS, Math.ceil(windowMs / SLICES / MINUTE_MS) * MINUTE_MS);
}

// SPEC F40
export function leavesAt(slice: number, windowMs: number): Instant {
  return (slice + 1) * sliceMs(windowMs) + windowMs;
}

/**
 * Returns the first instant after `at` at which a slice leaves and `isWanted` accepts the remaining counts. This runs
 * for every run of a test that sometimes fails, so it makes one pass and allocates nothing.
 */
export function findLeaving(
  buckets: Buckets,
  windowMs: number,
  { at, isWanted }: { readonly at: Instant; isWanted(first: number, second: number, leavesAt: Instant): boolean },
): Instant | undefined {
  let [first, second] = sumBuckets(buckets, windowMs, at);
  for (let index = 0; index < buckets.length; index += WIDTH) {
    const leaves = leavesAt(buckets[index] as number, windowMs);
    if (leaves <= at) continue;
    first -= buckets[index + 1] as number;
    second -= buckets[index + 2] as number;
    if (isWanted(first, second, leaves)) return leaves;
  }
  return undefined;
}

export function addToBuckets(
  buckets: Buckets,
  run: { readonly at: Instant; readonly isSecond: boolean },
  windowMs: number,
): Buckets {
  const slice = Math.floor(run.at / sliceMs(windowMs));
  let index = buckets.length - WIDTH;
  while (index >= 0 && (buckets[index] as number) > slice) index -= WIDTH;
  if (index < 0 || buckets[index] !== slice) {
    return buckets.toSpliced(index + WIDTH, 0, slice, run.isSecond ? 0 : 1, run.isSecond ? 1 : 0);
  }
  const counted = index + (run.isSecond ? 2 : 1);
  return buckets.with(counted, (buckets[counted] as number) + 1);
}

/** Drops slices that have left the window. Returns the same list if none has. */
export function pruneBuckets(buckets: Buckets, windowMs: number, at: Instant): Buckets {
  let first = 0;
  while (first < buckets.length && leavesAt(buckets[first] as number, windowMs) <= at) first += WIDTH;
  return first === 0 ? buckets : buckets.slice(first);
}

export function sumBuckets(buckets: Buckets, windowMs: number, at: Instant): readonly [number, number] {
  let first = 0;
  let second = 0;
  for (let index = 0; index < buckets.length; index += WIDTH) {
    if (leavesAt(buckets[index] as number, windowMs) <= at) continue;
    first += buckets[index + 1] as number;
    second += buckets[index + 2] as number;
  }
  return [first, second];
}
