import type { Instant } from '../lib/clock.ts';
import type { Candidate } from './candidate.ts';
import { candidatesOf, unlanded } from './roster.ts';
import { keepCandidate, tell, type Work } from './work.ts';

/** CI that was shown a commit as a rule says within seconds that it has begun. */
const SILENT_AFTER_MS = 10 * 60_000;

/** Nothing was heard of any required check for so long that CI may never have begun. */
export function isSilent(candidate: Candidate, now: Instant): boolean {
  const silentAt = silentFrom(candidate);
  return silentAt !== undefined && now >= silentAt;
}

/**
 * From when on nothing being heard is worth a word; undefined where something was, or nothing is to be. While other checks
 * run, CI has begun: what is required may be its last job, of which nothing is heard before.
 */
export function silentFrom({ state, twin, testingSince, required, checks }: Candidate): Instant | undefined {
  if (state !== 'testing' || twin !== undefined || testingSince === undefined) return undefined;
  const isRequired = (name: string) => required?.names.includes(name) === true;
  if (checks.some(({ name, status }) => isRequired(name) || status !== 'COMPLETED')) return undefined;
  return Math.max(testingSince, ...checks.map(({ reportedAt }) => reportedAt)) + SILENT_AFTER_MS;
}

/** Its people are told when CI is silent, and when it is no more. */
export function tellOfSilence(work: Work): void {
  if (!work.queue.isTold) return;
  for (const candidate of candidatesOf(work.queue)) {
    const { isSilenceTold, ...rest } = candidate;
    const isNow = isSilent(candidate, work.at);
    // That it ended is told anyway.
    if (candidate.state !== 'testing' || isNow === (isSilenceTold === true)) continue;
    keepCandidate(work, isNow ? { ...rest, isSilenceTold: true } : rest);
    for (const { prNumber } of unlanded(work.queue, candidate.members)) tell(work, prNumber);
  }
}
