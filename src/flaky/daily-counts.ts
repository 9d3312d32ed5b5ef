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
export function countRuns(runs: readonly CountedRun[], receivedAt: Instant, counts: number[] = []): number[] {
  const oldest = firstFigureDay(dayOf(receivedAt));
  for (const { conclusion, startedAt, durationMs } of runs) {
    const day = dayOfRun(startedAt, receivedAt);
    if (conclusion === 'SKIPPED' || day < oldest) continue;
    const isTimed = durationMs !== null && durationMs >= 0;
    const index = openDay(counts, day);
    counts[index + 1] = (counts[index + 1] as number) + 1;
    if (conclusion === 'FAILURE') counts[index + 2] = (counts[index + 2] as number) + 1;
    if (isTimed) {
      counts[index + 3] = (counts[index + 3] as number) + 1;
      counts[index + 4] = (counts[index + 4] as number) + Math.round(durationMs * 1_000);
    }
  }
  return counts;
}

/** The index of the day in the counts, which get it if they lack it. */
function openDay(counts: number[], day: number): number {
  let index = counts.length - WIDTH;
  while (index >= 0 && (counts[index] as number) > day) index -= WIDTH;
  if (counts[index] === day) return index;
  counts.splice(index + WIDTH, 0, day, 0, 0, 0, 0);
  return index + WIDTH;
}

export function addCounts(one: DailyCounts, other: DailyCounts): DailyCounts {
  const sum = [...one];
  for (let from = 0; from < other.length; from += WIDTH) {
    const index = openDay(sum, other[from] as number);
    for (let field = 1; field < WIDTH; field += 1) {
      sum[index + field] = (sum[index + field] as number) + (other[from + field] as number);
    }
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
