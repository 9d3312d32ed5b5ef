import type { Instant } from '../../lib/clock.ts';
import { addToBuckets, type Buckets, findLeaving, pruneBuckets, sliceMs, sumBuckets } from '../buckets.ts';
import { type Decision, type Detector, HOUR_MS, KEPT_RUNS, SAME } from '../detector.ts';
import type { Monitor } from '../monitor.ts';
import { platformFailures } from '../platform.ts';
import { keepLatest, type RunRef, refOf } from '../run.ts';
import type { MonitorData } from '../state.ts';

type RateMonitor = Monitor<'failure_rate'>;

const windowMsOf = (monitor: RateMonitor) => monitor.parameters.windowHours * HOUR_MS;

export const failureRate: Detector<'failure_rate'> = {
  fits: (data, monitor) => data.windowMs === windowMsOf(monitor),

  fold(data, { upload, runs, at }, monitor) {
    const windowMs = windowMsOf(monitor);
    let buckets: Buckets = data?.buckets ?? [];
    let lastRunAt = data?.lastRunAt ?? 0;
    const failures: RunRef[] = [];
    for (const { conclusion, startedAt, path } of runs) {
      if (conclusion === 'SKIPPED') continue;
      buckets = addToBuckets(buckets, { at: startedAt, isSecond: conclusion === 'FAILURE' }, windowMs);
      lastRunAt = Math.max(lastRunAt, startedAt);
      if (conclusion === 'FAILURE') failures.push(refOf(upload, startedAt, path));
    }
    if (lastRunAt === 0) return data;
    return {
      windowMs,
      buckets: pruneBuckets(buckets, windowMs, at),
      lastRunAt,
      failures: keepLatest(data?.failures ?? [], failures, KEPT_RUNS),
    };
  },

  decide(data, monitor, { at, isActive, jobs }) {
    if (!isActive && !hasFailuresInWindow(data, at)) return SAME;
    if (isStale(data.lastRunAt, monitor, at)) return isActive ? staleDecision(monitor) : SAME;
    const [passes, failures] = sumBuckets(data.buckets, data.windowMs, at);
    const change = judge({ passes, failures }, monitor, isActive);
    if (change === 'same') return SAME;
    const rate = failures / (passes + failures);
    const share = `${percent(rate)} of its ${passes + failures} runs in ${hours(monitor)}`;
    if (change === 'inactive') return { kind: 'inactive', cause: 'recovered', reason: `Only ${share} failed.` };
    const platforms = callsFlaky(monitor) ? platformFailures(jobs, at - data.windowMs) : undefined;
    if (platforms !== undefined && data.failures.every(({ job }) => platforms.has(job))) return SAME;
    const figures = { failures, runs: passes + failures, rate };
    return { kind: 'active', reason: `${share} failed.`, evidence: { runs: data.failures, figures } };
  },

  nextAt(data, monitor, situation) {
    const { isActive, at } = situation;
    if (!isActive && !hasFailuresInWindow(data, at)) return null;
    const staleAt = isActive ? staleAtOf(data.lastRunAt, monitor) : null;
    const changesAt = findLeaving(data.buckets, data.windowMs, {
      at,
      isWanted: (passes, failures, leaves) =>
        judge({ passes, failures }, monitor, isActive) !== 'same' &&
        failureRate.decide(data, monitor, { ...situation, at: leaves }).kind !== 'same',
    });
    return earlier(changesAt ?? null, staleAt);
  },
};

/** Most tests never fail: for them nothing is added up. */
function hasFailuresInWindow({ failures, windowMs }: MonitorData['failure_rate'], at: Instant): boolean {
  const [last] = failures;
  return last !== undefined && last.at + windowMs + sliceMs(windowMs) > at;
}

function judge(
  { passes, failures }: { readonly passes: number; readonly failures: number },
  { parameters }: RateMonitor,
  isActive: boolean,
): 'same' | 'active' | 'inactive' {
  const runs = passes + failures;
  if (runs < parameters.minimumSampleSize) return 'same';
  if (!isActive) return failures / runs >= parameters.activationThreshold ? 'active' : 'same';
  return failures / runs < parameters.resolutionThreshold ? 'inactive' : 'same';
}

function callsFlaky({ action }: RateMonitor): boolean {
  return action.kind === 'classify' && action.status === 'FLAKY';
}

function staleAtOf(lastRunAt: Instant, { parameters }: RateMonitor): Instant | null {
  return parameters.staleTimeoutHours === null ? null : lastRunAt + parameters.staleTimeoutHours * HOUR_MS;
}

function isStale(lastRunAt: Instant, monitor: RateMonitor, at: Instant): boolean {
  const staleAt = staleAtOf(lastRunAt, monitor);
  return staleAt !== null && staleAt <= at;
}

function staleDecision({ parameters }: RateMonitor): Decision {
  return { kind: 'inactive', cause: 'stale', reason: `It has not run for ${parameters.staleTimeoutHours} hours.` };
}

function earlier(one: Instant | null, other: Instant | null): Instant | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function percent(rate: number): string {
  return `${Math.round(rate * 1000) / 10}%`;
}

function hours({ parameters: { windowHours } }: RateMonitor): string {
  return windowHours === 1 ? 'an hour' : `${windowHours} hours`;
}
