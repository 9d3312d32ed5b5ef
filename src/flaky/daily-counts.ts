/**
 * The runs of one test by day: flat groups of five numbers, ordered by day: the day (since 1970, UTC), runs, failures,
 * runs that told their duration, and the microseconds of those. Skipped runs are not counted. Adding commutes, so that
 * counts do not depend on the order of uploads.
 */
import type { Instant } from '../lib/clock.ts';
import { DAY_MS } from './core/detector.ts';
import type { ObservedRun } from './core/run.ts';

export type DailyCounts = readonly number[];

/** The days that lists of tests look back, today among them. */
export const FIGURE_DAYS = 30;

const WIDTH = 5;

export function dayOf(at: Instant): number {
  return Math.floor(at / DAY_MS);
}

/** The first of the last days that count on this day. */
export function firstFigureDay(today: number): number {
  return today - FIGURE_DAYS + 1;
}

/** A run that claims to start after the arrival of its upload counts on the day of the arrival. */
export function dayOfRun(startedAt: Instant, receivedAt: Instant): number {
  return dayOf(Math.min(startedAt, receivedAt));
}

type CountedRun = Pick<ObservedRun, 'conclusion' | 'startedAt' | 'durationMs'>;

// SPEC F61
export function countRuns(runs: readonly CountedRun[], receivedAt: Instant): DailyCounts {
  const oldest = firstFigureDay(dayOf(receivedAt));
  let counts: DailyCounts = [];
  for (const { conclusion, startedAt, durationMs } of runs) {
    const day = dayOfRun(startedAt, receivedAt);
    if (conclusion === 'SKIPPED' || day < oldest) continue;
    const isTimed = durationMs !== null && durationMs >= 0;
    const ofRun = [
      day,
      1,
      conclusion === 'FAILURE' ? 1 : 0,
      isTimed ? 1 : 0,
      isTimed ? Math.round(durationMs * 1_000) : 0,
    ];
    counts = addCounts(counts, ofRun);
  }
  return counts;
}

export function addCounts(one: DailyCounts, other: DailyCounts): DailyCounts {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const sum: number[] = [];
  let left = 0;
  let right = 0;
  while (left < one.length || right < other.length) {
    const leftDay = one[left] ?? Number.POSITIVE_INFINITY;
    const rightDay = other[right] ?? Number.POSITIVE_INFINITY;
    const day = Math.min(leftDay, rightDay);
    sum.push(day);
    for (let field = 1; field < WIDTH; field += 1) {
      const ofLeft = leftDay === day ? (one[left + field] as number) : 0;
      const ofRight = rightDay === day ? (other[right + field] as number) : 0;
      sum.push(ofLeft + ofRight);
    }
    if (leftDay === day) left += WIDTH;
    if (rightDay === day) right += WIDTH;
  }
  return sum;
}

/** Drops the days before `day`. Returns the same list if there are none. */
export function dropBefore(counts: DailyCounts, day: number): DailyCounts {
  let first = 0;
  while (first < counts.length && (counts[first] as number) < day) first += WIDTH;
  return first === 0 ? counts : counts.slice(first);
}

export function lastDayOf(counts: DailyCounts): number | undefined {
  return counts[counts.length - WIDTH];
}

export interface CountTotals {
  readonly runs: number;
  readonly failures: number;
  /** The average of the runs that told it; null: none did. */
  readonly durationMs: number | null;
}

export function sumCounts(counts: DailyCounts): CountTotals {
  const totals = [0, 0, 0, 0, 0];
  for (const [index, count] of counts.entries()) totals[index % WIDTH] = (totals[index % WIDTH] as number) + count;
  const [, runs, failures, timed, us] = totals as [number, number, number, number, number];
  return { runs, failures, durationMs: timed === 0 ? null : us / timed / 1_000 };
}

export interface DayCount {
  readonly day: number;
  readonly runs: number;
  readonly failures: number;
}

/** One for each of the last days up to `today`, oldest first, days without runs included. */
export function lastDays(counts: DailyCounts, today: number): readonly DayCount[] {
  const known = new Map<number, DayCount>();
  for (let index = 0; index < counts.length; index += WIDTH) {
    const [day, runs, failures] = counts.slice(index, index + WIDTH) as [number, number, number];
    known.set(day, { day, runs, failures });
  }
  return Array.from({ length: FIGURE_DAYS }, (_, index) => {
    const day = firstFigureDay(today) + index;
    return known.get(day) ?? { day, runs: 0, failures: 0 };
  });
}
