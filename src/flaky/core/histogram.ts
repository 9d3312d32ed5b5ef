import type { Histogram } from './state.ts';

/** Each step is 5% longer than the one before: 400 steps reach from a millisecond to more than a day. */
const GROWTH = Math.log(1.05);

export function addToHistogram(histogram: Histogram, durationMs: number): Histogram {
  const step = Math.max(0, Math.round(Math.log(Math.max(1, durationMs)) / GROWTH));
  const index = histogram.findLastIndex((entry) => entry[0] <= step);
  const found = histogram[index];
  return found !== undefined && found[0] === step
    ? histogram.with(index, [step, found[1] + 1])
    : histogram.toSpliced(index + 1, 0, [step, 1]);
}

export function mergeHistograms(histograms: readonly Histogram[]): Histogram {
  const counts = new Map<number, number>();
  for (const [step, count] of histograms.flat()) counts.set(step, (counts.get(step) ?? 0) + count);
  return [...counts].sort((one, other) => one[0] - other[0]);
}

export function countOf(histogram: Histogram): number {
  return histogram.reduce((sum, [, count]) => sum + count, 0);
}

/** The duration that this fraction of the runs does not exceed, to within 2.5%. */
export function percentileMs(histogram: Histogram, fraction: number): number {
  let left = Math.max(1, Math.ceil(countOf(histogram) * fraction));
  for (const [step, count] of histogram) {
    left -= count;
    if (left <= 0) return Math.exp(step * GROWTH);
  }
  return 0;
}
