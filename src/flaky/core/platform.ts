import type { Instant } from '../../lib/clock.ts';
import { HOUR_MS } from './detector.ts';
import type { ObservedRun } from './run.ts';
import type { JobRecord } from './state.ts';

const KEPT_JOBS = 16;

/**
 * Notes the jobs in which the test passes and fails. Passes are noted by the hour, so that a test that passes all day
 * does not need a write each time.
 */
export function noteJob(jobs: readonly JobRecord[], job: string, runs: readonly ObservedRun[]): readonly JobRecord[] {
  const known = jobs.find((record) => record.job === job);
  let passedAt = known?.passedAt ?? null;
  let failedAt = known?.failedAt ?? null;
  for (const { conclusion, startedAt } of runs) {
    if (conclusion === 'SUCCESS') passedAt = latest(passedAt, Math.floor(startedAt / HOUR_MS) * HOUR_MS);
    else if (conclusion === 'FAILURE') failedAt = latest(failedAt, startedAt);
  }
  if (passedAt === (known?.passedAt ?? null) && failedAt === (known?.failedAt ?? null)) return jobs;
  const others = jobs.filter((record) => record.job !== job);
  return [...others, { job, passedAt, failedAt }].sort(byLastSeen).slice(0, KEPT_JOBS);
}

/**
 * Jobs in which the test fails and has not passed since, although it passes in another job. The test does not work on
 * that platform, and its failures there do not make it flaky. A pass in another job counts at any age, so time alone
 * never makes a test flaky.
 */
// SPEC F11
export function platformFailures(jobs: readonly JobRecord[], since: Instant): ReadonlySet<string> {
  if (jobs.length < 2) return NONE;
  const never = jobs.filter(({ passedAt }) => passedAt === null || passedAt <= since - HOUR_MS);
  const apart = never.filter((record) => jobs.some((other) => other !== record && other.passedAt !== null));
  return new Set(apart.map(({ job }) => job));
}

const NONE: ReadonlySet<string> = new Set();

function latest(one: Instant | null, other: Instant): Instant {
  return one === null ? other : Math.max(one, other);
}

function byLastSeen(one: JobRecord, other: JobRecord): number {
  return lastSeen(other) - lastSeen(one) || (one.job < other.job ? -1 : 1);
}

function lastSeen({ passedAt, failedAt }: JobRecord): Instant {
  return Math.max(passedAt ?? 0, failedAt ?? 0);
}
