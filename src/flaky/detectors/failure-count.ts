import { type Detector, KEPT_RUNS, MINUTE_MS, SAME } from '../detector.ts';
import { platformFailures } from '../platform.ts';
import { keepLatest, type RunRef, refOf } from '../run.ts';
import { durationWords } from '../words.ts';

/** Whatever jobs there are, a test's state stays small. */
const MAX_KEPT = 400;

export const failureCount: Detector<'failure_count'> = {
  fold(data, { upload, runs }, monitor) {
    const failures = runs.filter((run) => run.conclusion === 'FAILURE').map((run) => refOf(upload, run.startedAt));
    if (failures.length === 0) return data;
    const kept = keepLatest(data?.failures ?? [], failures, MAX_KEPT);
    return { failures: latestOfEachJob(kept, Math.max(KEPT_RUNS, monitor.parameters.failureCount)) };
  },

  decide({ failures }, { parameters, action }, { at, isActive, jobs }) {
    const timeoutMs = parameters.resolutionTimeoutMinutes * MINUTE_MS;
    if (isActive) {
      if ((failures[0]?.at ?? 0) + timeoutMs > at) return SAME;
      const reason = `It has not failed for ${durationWords(parameters.resolutionTimeoutMinutes)}.`;
      return { kind: 'inactive', cause: 'recovered', reason };
    }
    const since = at - parameters.windowMinutes * MINUTE_MS;
    const inWindow = failures.filter((failure) => failure.at > since);
    if (inWindow.length < parameters.failureCount) return SAME;
    const callsFlaky = action.kind === 'classify' && action.status === 'FLAKY';
    const counting = callsFlaky ? withoutPlatforms(inWindow, platformFailures(jobs, since)) : inWindow;
    if (counting.length < parameters.failureCount) return SAME;
    const times = parameters.failureCount === 1 ? 'once' : `at least ${parameters.failureCount} times`;
    return {
      kind: 'active',
      reason: `It failed ${times} within ${durationWords(parameters.windowMinutes)}.`,
      evidence: { runs: counting.slice(0, KEPT_RUNS), figures: { failures: counting.length } },
    };
  },

  nextAt({ failures }, { parameters }, { isActive }) {
    const [last] = failures;
    return isActive && last !== undefined ? last.at + parameters.resolutionTimeoutMinutes * MINUTE_MS : null;
  },
};

/** As many as it counts, of each job: failures of a platform where the test never works must not push out the others. */
function latestOfEachJob(failures: readonly RunRef[], limit: number): readonly RunRef[] {
  const seen = new Map<string, number>();
  return failures.filter(({ job }) => {
    const count = (seen.get(job) ?? 0) + 1;
    seen.set(job, count);
    return count <= limit;
  });
}

function withoutPlatforms(failures: readonly RunRef[], jobs: ReadonlySet<string>): readonly RunRef[] {
  return jobs.size === 0 ? failures : failures.filter(({ job }) => !jobs.has(job));
}
