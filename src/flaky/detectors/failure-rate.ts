import type { Instant } from '../../lib/clock.ts';
import { addToBuckets, type Buckets, findLeaving, pruneBuckets, sliceMs, sumBuckets } from '../core/buckets.ts';
import { type Decision, type Detector, HOUR_MS, KEPT_RUNS, SAME } from '../core/detector.ts';
import type { Monitor } from '../core/monitor.ts';
import { platformFailures } from '../core/platform.ts';
import { keepLatest, type RunRef, refOf } from '../core/run.ts';
import type { MonitorData, RecentRun } from '../core/state.ts';

type RateMonitor = Monitor<'failure_rate'>;

const windowMsOf = (monitor: RateMonitor) => monitor.parameters.windowHours * HOUR_MS;

export const failureRate: Detector<'failure_rate'> = {
  fits: (data, monitor) => data.windowMs === windowMsOf(monitor),

  fold(data, { upload, runs, at }, monitor) {
    const windowMs = windowMsOf(monitor);
    let buckets: Buckets = data?.buckets ?? [];
    let lastRunAt = data?.lastRunAt ?? 0;
    const limit = recentRunsOf(monitor);
    const failures: RunRef[] = [];
    let recent = data?.recent ?? [];
    for (const { conclusion, startedAt, path } of runs) {
      if (conclusion === 'SKIPPED') continue;
      buckets = addToBuckets(buckets, { at: startedAt, isSecond: conclusion === 'FAILURE' }, windowMs);
      lastRunAt = Math.max(lastRunAt, startedAt);
      if (limit > 0) recent = keepRecent(recent, [startedAt, conclusion === 'FAILURE' ? 1 : 0], limit);
      if (conclusion === 'FAILURE') failures.push(refOf(upload, startedAt, path));
    }
    if (lastRunAt === 0) return data;
    const counts = {
      windowMs,
      buckets: pruneBuckets(buckets, windowMs, at),
      lastRunAt,
      failures: keepLatest(data?.failures ?? [], failures, KEPT_RUNS),
    };
    return limit === 0 ? counts : { ...counts, recent };
  },

  // SPEC F9
  decide(data, monitor, { at, isActive, jobs }) {
    if (!isActive && !hasFailuresInWindow(data, at) && !hasRecentFailures(data)) return SAME;
    if (isStale(data.lastRunAt, monitor, at)) return isActive ? staleDecision(monitor) : SAME;
    const [inWindow, failedInWindow] = sumBuckets(data.buckets, data.windowMs, at);
    const { passes, failures, isRecent } = countsOf(data, monitor, { passes: inWindow, failures: failedInWindow });
    const change = judge({ passes, failures }, monitor, isActive);
    if (change === 'same') return SAME;
    const rate = failures / (passes + failures);
    const runs = passes + failures;
    const share = `${percent(rate)} of its ${isRecent ? `last ${runs} runs` : `${runs} runs in ${hours(monitor)}`}`;
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
        judge(countsOf(data, monitor, { passes, failures }), monitor, isActive) !== 'same' &&
        failureRate.decide(data, monitor, { ...situation, at: leaves }).kind !== 'same',
    });
    return earlier(changesAt ?? null, staleAt);
  },
};

interface Counts {
  readonly passes: number;
  readonly failures: number;
}

/** Older runs say nothing about the present. */
const MAX_RECENT = 20;

/** A test that always fails is broken however seldom it runs. A flaky test must show it within the window. */
// SPEC F44
function recentRunsOf({ action, parameters }: RateMonitor): number {
  const isBroken = action.kind === 'classify' && action.status === 'BROKEN';
  return isBroken && parameters.minimumSampleSize <= MAX_RECENT ? parameters.minimumSampleSize : 0;
}

/** Newest first; of runs that started together, failures first. */
function keepRecent(known: readonly RecentRun[], added: RecentRun, limit: number): readonly RecentRun[] {
  const after = known.findIndex(([at, hasFailed]) => (added[0] - at || added[1] - hasFailed) > 0);
  const recent = known.toSpliced(after === -1 ? known.length : after, 0, added);
  return recent.length > limit ? recent.slice(0, limit) : recent;
}

/** Counts the window or, if that has too few runs, the last runs. */
function countsOf(
  { recent = [] }: MonitorData['failure_rate'],
  monitor: RateMonitor,
  inWindow: Counts,
): Counts & { readonly isRecent: boolean } {
  const limit = recentRunsOf(monitor);
  const isEnough = inWindow.passes + inWindow.failures >= monitor.parameters.minimumSampleSize;
  if (isEnough || limit === 0 || recent.length < limit) return { ...inWindow, isRecent: false };
  const failures = recent.filter(([, hasFailed]) => hasFailed === 1).length;
  return { passes: recent.length - failures, failures, isRecent: true };
}

/** Most tests never fail: this spares them the sum over all slices. */
function hasFailuresInWindow({ failures, windowMs }: MonitorData['failure_rate'], at: Instant): boolean {
  const [last] = failures;
  return last !== undefined && last.at + windowMs + sliceMs(windowMs) > at;
}

function hasRecentFailures({ recent = [] }: MonitorData['failure_rate']): boolean {
  return recent.some(([, hasFailed]) => hasFailed === 1);
}

function judge(
  { passes, failures }: Counts,
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

// SPEC F45
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
