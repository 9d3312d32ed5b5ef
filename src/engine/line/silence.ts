import type { Instant } from '../../lib/clock.ts';
import type { Candidate } from '../model/candidate.ts';
import { candidatesOf, unlanded } from '../model/roster.ts';
import { keepCandidate, tell, type Work } from '../model/work.ts';

/** CI usually reports within seconds that it has started. */
const SILENT_AFTER_MS = 10 * 60_000;
/** A check that is not required and open for this long may stay open for ever. */
const NEVER_ENDS_AFTER_MS = 2 * 3_600_000;

/** No required check has reported for so long that CI may never have started. */
// SPEC E17
export function isSilent(candidate: Candidate, now: Instant): boolean {
  const silentAt = silentFrom(candidate);
  return silentAt !== undefined && now >= silentAt;
}

/**
 * When CI counts as silent; undefined if a required check has reported or none is awaited. Other running checks show
 * that CI has started, because the required check may be its last job and report nothing before. The built-in runner
 * always starts, when a slot is free.
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

/** Updates the pages of the pull requests when CI becomes silent and when it reports again. */
export function tellOfSilence(work: Work): void {
  if (!work.queue.hasPages) return;
  for (const candidate of candidatesOf(work.queue)) {
    const { isSilenceTold, ...rest } = candidate;
    const isNow = isSilent(candidate, work.at);
    // The end of a candidate updates the pages anyway.
    if (candidate.state !== 'testing' || isNow === (isSilenceTold === true)) continue;
    keepCandidate(work, isNow ? { ...rest, isSilenceTold: true } : rest);
    for (const { prNumber } of unlanded(work.queue, candidate.members)) tell(work, prNumber);
  }
}
