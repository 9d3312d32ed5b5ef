import type { Instant } from '../../lib/clock.ts';
import { addToBuckets, type Buckets, findLeaving, pruneBuckets, sumBuckets } from '../core/buckets.ts';
import { type Detector, durationWords, MINUTE_MS, SAME } from '../core/detector.ts';
import type { Monitor } from '../core/monitor.ts';

type SlowMonitor = Monitor<'slow_test'>;

const windowMsOf = (monitor: SlowMonitor) => monitor.parameters.windowMinutes * MINUTE_MS;

/**
 * The number of runs below the threshold tells exactly whether the percentile reaches it, so the durations need not be
 * kept.
 */
// SPEC F49
export const slowTest: Detector<'slow_test'> = {
  fits: (data, monitor) => data.windowMs === windowMsOf(monitor) && data.thresholdMs === monitor.parameters.thresholdMs,

  fold(data, { runs, at }, monitor) {
    const windowMs = windowMsOf(monitor);
    const { thresholdMs } = monitor.parameters;
    let buckets: Buckets = data?.buckets ?? [];
    let lastRunAt = data?.lastRunAt ?? 0;
    for (const { conclusion, startedAt, durationMs } of runs) {
      if (conclusion === 'SKIPPED' || durationMs === null) continue;
      buckets = addToBuckets(buckets, { at: startedAt, isSecond: durationMs >= thresholdMs }, windowMs);
      lastRunAt = Math.max(lastRunAt, startedAt);
    }
    if (lastRunAt === 0) return data;
    return { windowMs, thresholdMs, buckets: pruneBuckets(buckets, windowMs, at), lastRunAt };
  },

  decide(data, monitor, { at, isActive }) {
    const { percentile, minimumSampleSize, thresholdMs, windowMinutes } = monitor.parameters;
    const staleAt = staleAtOf(data.lastRunAt, monitor);
    if (staleAt !== null && staleAt <= at) {
      const reason = `It has not run for ${durationWords(monitor.parameters.staleAfterMinutes ?? 0)}.`;
      return isActive ? { kind: 'inactive', cause: 'stale', reason } : SAME;
    }
    const [below, atLeast] = sumBuckets(data.buckets, data.windowMs, at);
    const runs = below + atLeast;
    if (runs < minimumSampleSize) return SAME;
    const isSlow = below < Math.max(1, Math.ceil(percentile * runs));
    if (isSlow === isActive) return SAME;
    const what = `of its ${runs} runs in ${durationWords(windowMinutes)} took at least ${thresholdMs} ms.`;
    return isSlow
      ? { kind: 'active', reason: `${atLeast} ${what}`, evidence: { runs: [], figures: { runs, slow: atLeast } } }
      : { kind: 'inactive', cause: 'recovered', reason: `Only ${atLeast} ${what}` };
  },

  nextAt(data, monitor, situation) {
    const staleAt = situation.isActive ? staleAtOf(data.lastRunAt, monitor) : null;
    const changesAt = findLeaving(data.buckets, data.windowMs, {
      at: situation.at,
      isWanted: (_below, _atLeast, leaves) =>
        slowTest.decide(data, monitor, { ...situation, at: leaves }).kind !== 'same',
    });
    return changesAt === undefined || staleAt === null ? (changesAt ?? staleAt) : Math.min(changesAt, staleAt);
  },
};

function staleAtOf(lastRunAt: Instant, { parameters }: SlowMonitor): Instant | null {
  return parameters.staleAfterMinutes === null ? null : lastRunAt + parameters.staleAfterMinutes * MINUTE_MS;
}
