import type { Instant } from '../../lib/clock.ts';
import { type Detector, durationWords, KEPT_RUNS, MINUTE_MS, SAME } from '../core/detector.ts';
import type { Monitor } from '../core/monitor.ts';
import { findOccasions, keepOccasions, notePass, occasionSliceMs } from '../core/occasions.ts';
import { platformFailures } from '../core/platform.ts';
import { keepLatest, type RunRef, refOf } from '../core/run.ts';
import type { MonitorData } from '../core/state.ts';

/** Bounds a test's state, however many jobs run it. */
const MAX_KEPT = 400;
const MAX_OCCASIONS_KEPT = 200;

/** A factor on the counted failures: a long regression fails in slice after slice, and must not push out older ones. */
const OCCASIONS_KEPT = 3;

const windowMsOf = (monitor: Monitor<'failure_count'>) => monitor.parameters.windowMinutes * MINUTE_MS;

export const failureCount: Detector<'failure_count'> = {
  fits: (data, monitor) => data.sliceMs === occasionSliceMs(windowMsOf(monitor)),

  fold(data, { upload, runs, at }, monitor) {
    const windowMs = windowMsOf(monitor);
    const sliceMs = occasionSliceMs(windowMs);
    const since = Math.floor((at - windowMs) / sliceMs);
    let passes = data?.passes ?? NO_PASSES;
    const failures: RunRef[] = [];
    for (const { conclusion, startedAt, path } of runs) {
      if (conclusion === 'FAILURE') failures.push(refOf(upload, startedAt, path));
      else if (conclusion === 'SUCCESS') {
        const here = { branch: upload.branch, job: upload.job, path };
        passes = notePass(passes, here, { slice: Math.floor(startedAt / sliceMs), since });
      }
    }
    if (failures.length === 0 && passes === (data?.passes ?? NO_PASSES)) return data;
    const limit = Math.max(KEPT_RUNS, monitor.parameters.failureCount);
    return { sliceMs, ...keepFailures(data, failures, { sliceMs, limit }), passes };
  },

  // SPEC F10
  decide(data, monitor, { at, isActive, jobs }) {
    const { parameters } = monitor;
    if (isActive) {
      if ((data.failures[0]?.at ?? 0) + parameters.resolutionTimeoutMinutes * MINUTE_MS > at) return SAME;
      const reason = `It has not failed for ${durationWords(parameters.resolutionTimeoutMinutes)}.`;
      return { kind: 'inactive', cause: 'recovered', reason };
    }
    const since = at - windowMsOf(monitor);
    const inWindow = data.failures.filter((failure) => failure.at > since);
    if (inWindow.length < parameters.failureCount) return SAME;
    const callsFlaky = monitor.action.kind === 'classify' && monitor.action.status === 'FLAKY';
    // Failures on a platform where the test does not work do not make it flaky.
    const platforms = callsFlaky ? platformFailures(jobs, since) : NO_PLATFORMS;
    const { failures, occasions } = withoutPlatforms(data, since, platforms);
    const hasPassesBetween = parameters.passesBetween > 0;
    const counting = hasPassesBetween ? findOccasions(occasions, data.passes, data.sliceMs) : failures;
    if (counting.length < parameters.failureCount) return SAME;
    const figures = hasPassesBetween ? { occasions: counting.length } : { failures: counting.length };
    return {
      kind: 'active',
      reason: reasonOf(monitor),
      evidence: { runs: counting.slice(0, KEPT_RUNS), figures },
    };
  },

  nextAt({ failures }, { parameters }, { isActive }) {
    const [last] = failures;
    return isActive && last !== undefined ? last.at + parameters.resolutionTimeoutMinutes * MINUTE_MS : null;
  },
};

type Data = MonitorData['failure_count'];

const NO_PASSES: Data['passes'] = [];
const NO_FAILURES = { failures: [], occasions: [] };

function keepFailures(
  data: Data | null,
  added: readonly RunRef[],
  { sliceMs, limit }: { readonly sliceMs: number; readonly limit: number },
): Pick<Data, 'failures' | 'occasions'> {
  const { failures, occasions } = data ?? NO_FAILURES;
  if (added.length === 0) return { failures, occasions };
  const kept = keepOccasions([...occasions, ...added], { sliceMs, limit: limit * OCCASIONS_KEPT });
  return {
    failures: latestOfEachJob(keepLatest(failures, added, MAX_KEPT), limit),
    occasions: kept.slice(0, MAX_OCCASIONS_KEPT),
  };
}

const NO_PLATFORMS: ReadonlySet<string> = new Set();

function withoutPlatforms(
  { failures, occasions }: Data,
  since: Instant,
  platforms: ReadonlySet<string>,
): Pick<Data, 'failures' | 'occasions'> {
  const counts = ({ at, job }: RunRef) => at > since && !platforms.has(job);
  return { failures: failures.filter(counts), occasions: occasions.filter(counts) };
}

function reasonOf({ parameters }: Monitor<'failure_count'>): string {
  const { failureCount: count, windowMinutes, passesBetween } = parameters;
  const within = `within ${durationWords(windowMinutes)}`;
  if (count === 1) return `It failed once ${within}.`;
  if (passesBetween === 0) return `It failed at least ${count} times ${within}.`;
  return `It failed on at least ${count} occasions ${within}, and passed between them.`;
}

/**
 * Keeps as many as the monitor counts for each job: failures on a platform where the test never works must not push out
 * the others.
 */
function latestOfEachJob(failures: readonly RunRef[], limit: number): readonly RunRef[] {
  const seen = new Map<string, number>();
  return failures.filter(({ job }) => {
    const count = (seen.get(job) ?? 0) + 1;
    seen.set(job, count);
    return count <= limit;
  });
}
