import type { Instant } from '../lib/clock.ts';
import type { Candidate } from './candidate.ts';
import { candidatesOf, unlanded } from './roster.ts';
import { keepCandidate, tell, type Work } from './work.ts';

/** CI that was shown a commit as a rule says within seconds that it has begun. */
const SILENT_AFTER_MS = 10 * 60_000;
/** What is open for so long, and not required, may stay so for ever. */
const NEVER_ENDS_AFTER_MS = 2 * 3_600_000;

/** Nothing was heard of any required check for so long that CI may never have begun. */
export function isSilent(candidate: Candidate, now: Instant): boolean {
  const silentAt = silentFrom(candidate);
  return silentAt !== undefined && now >= silentAt;
}

/**
 * From when on nothing being heard is worth a word; undefined where something was, or nothing is to be. While other checks
 * run, CI has begun: what is required may be its last job, of which nothing is heard before. The built-in runner always
 * begins, when its turn comes.
 */
export function silentFrom({ state, sameTreeAs, testingSince, required, checks }: Candidate): Instant | undefined {
  if (state !== 'testing' || sameTreeAs !== undefined || testingSince === undefined || required === undefined)
    return undefined;
  if (required.commands !== '' || checks.some(({ name }) => required.names.includes(name))) return undefined;
  const busyUntil = checks.map(({ status, reportedAt }) =>
    status === 'COMPLETED' ? reportedAt : reportedAt + NEVER_ENDS_AFTER_MS,
  );
  return Math.max(testingSince, ...busyUntil) + SILENT_AFTER_MS;
}

/** Its people are told when CI is silent, and when it is no more. */
export function tellOfSilence(work: Work): void {
  if (!work.queue.hasPages) return;
  for (const candidate of candidatesOf(work.queue)) {
    const { isSilenceTold, ...rest } = candidate;
    const isNow = isSilent(candidate, work.at);
    // That it ended is told anyway.
    if (candidate.state !== 'testing' || isNow === (isSilenceTold === true)) continue;
    keepCandidate(work, isNow ? { ...rest, isSilenceTold: true } : rest);
    for (const { prNumber } of unlanded(work.queue, candidate.members)) tell(work, prNumber);
  }
}
