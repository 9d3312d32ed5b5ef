/** Computes from the full history of test executions whether a monitor is active. Slow and simple, without state. */

import { matchesAnyBranch } from '../../src/flaky/core/branch-pattern.ts';
import { sliceMs } from '../../src/flaky/core/buckets.ts';
import type { Monitor } from '../../src/flaky/core/monitor.ts';
import { occasionSliceMs } from '../../src/flaky/core/occasions.ts';
import type { ObservedRun, UploadFacts } from '../../src/flaky/core/run.ts';
import { DAY, HOUR, MINUTE, type Told } from './test-history.ts';

interface FlatRun extends ObservedRun {
  readonly job: string;
  readonly branch: string;
}

export function isActiveNaively(monitor: Monitor, told: readonly Told[], at: number, wasActive: boolean): boolean {
  const ours = told.filter(({ upload }) => upload.flaw === null);
  const countsFailures = monitor.type === 'failure_rate' || monitor.type === 'failure_count';
  const seen = ours.filter(
    ({ upload }) => matchesAnyBranch(monitor.branches, upload.branch) && !(countsFailures && upload.isTestBranch),
  );
  const runs = flatten(seen);
  const ran = runs.filter((run) => run.conclusion !== 'SKIPPED');
  const dead = deadJobs(flatten(ours));
  switch (monitor.type) {
    case 'pass_on_retry':
      return retryInstants(seen, ours).some((instant) => instant + monitor.parameters.recoveryDays * DAY > at);
    case 'failure_count': {
      const { failureCount, windowMinutes, resolutionTimeoutMinutes, passesBetween } = monitor.parameters;
      const failures = runs.filter((run) => run.conclusion === 'FAILURE');
      if (wasActive) return failures.some((run) => run.startedAt + resolutionTimeoutMinutes * MINUTE > at);
      const since = at - windowMinutes * MINUTE;
      const isFlaky = monitor.action.kind === 'classify' && monitor.action.status === 'FLAKY';
      const inWindow = failures.filter((run) => run.startedAt > since);
      const counting = inWindow.filter((run) => !isFlaky || !dead(run.job, since));
      if (passesBetween === 0) return counting.length >= failureCount;
      return countOccasions(counting, runs, occasionSliceMs(windowMinutes * MINUTE)) >= failureCount;
    }
    case 'failure_rate': {
      const { windowHours, minimumSampleSize, activationThreshold, resolutionThreshold } = monitor.parameters;
      const last = Math.max(...ran.map((run) => run.startedAt));
      const { staleTimeoutHours } = monitor.parameters;
      if (staleTimeoutHours !== null && last + staleTimeoutHours * HOUR <= at) return false;
      const inWindow = ran.filter((run) => isInWindow(run.startedAt, windowHours * HOUR, at));
      const failed = (run: FlatRun) => Number(run.conclusion === 'FAILURE');
      const latest = ran.toSorted((a, b) => b.startedAt - a.startedAt || failed(b) - failed(a));
      const counted = inWindow.length < minimumSampleSize ? latest.slice(0, minimumSampleSize) : inWindow;
      if (counted.length < minimumSampleSize) return wasActive;
      const rate = counted.filter((run) => run.conclusion === 'FAILURE').length / counted.length;
      return rate >= (wasActive ? resolutionThreshold : activationThreshold);
    }
    case 'skipped_test': {
      const { windowMinutes, minimumSkippedCount, resolutionDays } = monitor.parameters;
      const skips = runs.filter((run) => run.conclusion === 'SKIPPED');
      if (wasActive) return skips.some((run) => run.startedAt + resolutionDays * DAY > at);
      return skips.filter((run) => run.startedAt > at - windowMinutes * MINUTE).length >= minimumSkippedCount;
    }
    case 'slow_test': {
      const { windowMinutes, minimumSampleSize, percentile, thresholdMs } = monitor.parameters;
      const inWindow = ran.filter((run) => isInWindow(run.startedAt, windowMinutes * MINUTE, at));
      if (inWindow.length < minimumSampleSize) return wasActive;
      const sorted = inWindow.map((run) => run.durationMs ?? 0).sort((a, b) => a - b);
      return (sorted[Math.max(1, Math.ceil(percentile * sorted.length)) - 1] ?? 0) >= thresholdMs;
    }
    default:
      throw new Error(`no naive rule for ${monitor.type}`);
  }
}

function flatten(told: readonly Told[]): readonly FlatRun[] {
  return told.flatMap(({ upload, runs }) => runs.map((run) => ({ ...run, job: upload.job, branch: upload.branch })));
}

/** A slice counts while any part of it is within the window. */
function isInWindow(startedAt: number, windowMs: number, at: number): boolean {
  const slice = sliceMs(windowMs);
  return (Math.floor(startedAt / slice) + 1) * slice + windowMs > at;
}

/** Counts the first failure, then each failure that has a pass in the same place after the last counted one. */
function countOccasions(failures: readonly FlatRun[], runs: readonly FlatRun[], slice: number): number {
  const sliceOf = (run: FlatRun) => Math.floor(run.startedAt / slice);
  const passes = runs.filter((run) => run.conclusion === 'SUCCESS');
  const countAfter = (last: number): number => {
    const next = failures.filter((failure) =>
      passes.some(
        (pass) =>
          pass.job === failure.job &&
          pass.branch === failure.branch &&
          sliceOf(pass) > last &&
          sliceOf(pass) < sliceOf(failure),
      ),
    );
    return next.length === 0 ? 0 : 1 + countAfter(Math.min(...next.map(sliceOf)));
  };
  return failures.length === 0 ? 0 : 1 + countAfter(Math.min(...failures.map(sliceOf)));
}

/** Jobs without a later pass, while another job has passes. */
function deadJobs(runs: readonly FlatRun[]): (job: string, since: number) => boolean {
  const passes = runs.filter((run) => run.conclusion === 'SUCCESS');
  return (job, since) => {
    const own = passes.filter((run) => run.job === job).map((run) => Math.floor(run.startedAt / HOUR) * HOUR);
    return !own.some((passedAt) => passedAt > since - HOUR) && passes.some((run) => run.job !== job);
  };
}

function retryInstants(seen: readonly Told[], ours: readonly Told[]): readonly number[] {
  const instants: number[] = [];
  for (const one of seen) {
    for (const other of seen) {
      if (one.upload.job !== other.upload.job || !failed(one) || !passed(other)) continue;
      const [failedAt, passedAt] = [lastOf(ran(one).filter(isFailure)), lastOf(ran(other))];
      const isSameTree = one.upload.tree !== null && one.upload.tree === other.upload.tree;
      const isSoon = Math.abs(failedAt - passedAt) <= DAY;
      const isSameCommit = one.upload.sha === other.upload.sha;
      if (isPartOf(one.upload, other.upload)) continue;
      const isPart = ({ upload }: Told) => upload.tree === other.upload.tree && isPartOf(upload, other.upload);
      const hasFailedPart = seen.some((part) => failed(part) && isPart(part));
      if (isSameCommit || (isSameTree && isSoon && !hasFailedPart)) instants.push(Math.max(failedAt, passedAt));
    }
  }
  const twins = new Set(ours.filter((told) => passed(told) && ran(told).length > 1).map((told) => ran(told).length));
  if (twins.size > 0) return instants;
  for (const told of seen) {
    const failures = ran(told).filter(isFailure);
    const first = Math.min(...failures.map((run) => run.startedAt));
    const later = ran(told).filter((run) => run.conclusion === 'SUCCESS' && run.startedAt > first);
    if (later.length > 0) instants.push(Math.max(...later.map((run) => run.startedAt)));
  }
  return instants;
}

const isPartOf = (one: UploadFacts, other: UploadFacts) =>
  one.sha === other.sha && one.job === other.job && one.jobAttempt !== null && one.jobAttempt === other.jobAttempt;
const ran = ({ runs }: Told) => runs.filter((run) => run.conclusion !== 'SKIPPED');
const isFailure = ({ conclusion }: ObservedRun) => conclusion === 'FAILURE';
const failed = (told: Told) => ran(told).some(isFailure);
const passed = (told: Told) => ran(told).length > 0 && !failed(told);
const lastOf = (runs: readonly ObservedRun[]) => Math.max(...runs.map((run) => run.startedAt));
