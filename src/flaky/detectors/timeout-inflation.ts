import { leavesAt, sliceMs } from '../core/buckets.ts';
import { type Detector, HOUR_MS, KEPT_RUNS, SAME } from '../core/detector.ts';
import type { Monitor } from '../core/monitor.ts';
import { keepLatest, refOf } from '../core/run.ts';
import type { Histogram, MonitorData } from '../core/state.ts';

type Data = MonitorData['timeout_inflation'];
type Buckets = Data['buckets'];

const windowMsOf = (monitor: Monitor<'timeout_inflation'>) => monitor.parameters.windowHours * HOUR_MS;

/** Detects failing runs that take far longer than passing ones: the test waits for something until it times out. */
// SPEC F49
export const timeoutInflation: Detector<'timeout_inflation'> = {
  fits: (data, monitor) => data.windowMs === windowMsOf(monitor),

  fold(data, { upload, runs, at }, monitor) {
    const windowMs = windowMsOf(monitor);
    const timed = runs.filter((run) => run.conclusion !== 'SKIPPED' && run.durationMs !== null);
    if (timed.length === 0) return data;
    let buckets: Buckets = data?.buckets ?? [];
    for (const { startedAt, durationMs, conclusion } of timed) {
      const slice = Math.floor(startedAt / sliceMs(windowMs));
      buckets = addDuration(buckets, slice, durationMs ?? 0, conclusion === 'FAILURE');
    }
    const failures = timed.filter((run) => run.conclusion === 'FAILURE').map((run) => refOf(upload, run.startedAt));
    return {
      windowMs,
      buckets: buckets.filter(([slice]) => leavesAt(slice, windowMs) > at),
      failures: keepLatest(data?.failures ?? [], failures, KEPT_RUNS),
    };
  },

  decide(data, { parameters }, { at, isActive }) {
    const inWindow = data.buckets.filter(([slice]) => leavesAt(slice, data.windowMs) > at);
    const passing = mergeHistograms(inWindow.map((bucket) => bucket[1]));
    const failing = mergeHistograms(inWindow.map((bucket) => bucket[2]));
    if (countOf(passing) < parameters.minimumPassCount || countOf(failing) < parameters.minimumFailCount) return SAME;
    const passMs = percentileMs(passing, parameters.passPercentile);
    const failMs = percentileMs(failing, parameters.failPercentile);
    const figures = { passMs: Math.round(passMs), failMs: Math.round(failMs) };
    const what = `Failing runs take ${figures.failMs} ms, passing ones ${figures.passMs} ms.`;
    if (isActive) {
      if (failMs > parameters.resolutionRatio * passMs) return SAME;
      return { kind: 'inactive', cause: 'recovered', reason: what };
    }
    if (failMs < parameters.activationRatio * passMs || failMs - passMs <= parameters.minimumGapMs) return SAME;
    return { kind: 'active', reason: what, evidence: { runs: data.failures, figures } };
  },

  nextAt(data, _monitor, { at }) {
    if (data.buckets.every((bucket) => bucket[2].length === 0)) return null;
    const leaving = data.buckets.map(([slice]) => leavesAt(slice, data.windowMs)).filter((leaves) => leaves > at);
    return leaving.length === 0 ? null : Math.min(...leaving);
  },
};

function addDuration(buckets: Buckets, slice: number, durationMs: number, hasFailed: boolean): Buckets {
  const index = buckets.findLastIndex((bucket) => bucket[0] <= slice);
  const found = buckets[index];
  const isThere = found !== undefined && found[0] === slice;
  const [, passing, failing] = isThere ? found : [slice, [], []];
  const bucket: Buckets[number] = hasFailed
    ? [slice, passing, addToHistogram(failing, durationMs)]
    : [slice, addToHistogram(passing, durationMs), failing];
  return isThere ? buckets.with(index, bucket) : buckets.toSpliced(index + 1, 0, bucket);
}

/** Each step is 5% longer than the one before: 400 steps reach from a millisecond to more than a day. */
const GROWTH = Math.log(1.05);

function addToHistogram(histogram: Histogram, durationMs: number): Histogram {
  const step = Math.max(0, Math.round(Math.log(Math.max(1, durationMs)) / GROWTH));
  const index = histogram.findLastIndex((entry) => entry[0] <= step);
  const found = histogram[index];
  return found !== undefined && found[0] === step
    ? histogram.with(index, [step, found[1] + 1])
    : histogram.toSpliced(index + 1, 0, [step, 1]);
}

function mergeHistograms(histograms: readonly Histogram[]): Histogram {
  const counts = new Map<number, number>();
  for (const [step, count] of histograms.flat()) counts.set(step, (counts.get(step) ?? 0) + count);
  return [...counts].sort((one, other) => one[0] - other[0]);
}

function countOf(histogram: Histogram): number {
  return histogram.reduce((sum, [, count]) => sum + count, 0);
}

/** The duration that this fraction of the runs does not exceed, to within 2.5%. */
function percentileMs(histogram: Histogram, fraction: number): number {
  let left = Math.max(1, Math.ceil(countOf(histogram) * fraction));
  for (const [step, count] of histogram) {
    left -= count;
    if (left <= 0) return Math.exp(step * GROWTH);
  }
  return 0;
}
