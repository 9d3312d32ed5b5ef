import { type Candidate, compositionOf, isOfLine, type Member } from '../model/candidate.ts';
import { WAITING } from '../model/place.ts';
import type { PrNumber } from '../model/pull-request.ts';
import { type Because, type Entry, findCandidate, isLanding, type Queue, toMember } from '../model/queue.ts';
import { candidatesOf, lineOf, unlanded } from '../model/roster.ts';
import { endCandidate, keep, move, type Work } from '../model/work.ts';

/** Abandons a candidate of the line and everything built on it. Their members are pending again. */
// SPEC C5
export function abandon(work: Work, candidate: Candidate, because: Because): void {
  if (isBeingLanded(work.queue, candidate)) return;
  abandonAllWith(work, candidate.members, because, new Set());
}

/** For entries behind a run that failed. Of several members, none is named as the cause before it is known. */
export function behindFailedRun(members: readonly Member[]): Because {
  return { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', isUndecided: true, ...causeAmong(members) };
}

/** For entries behind a run that goes on apart from the line, because it takes too long. */
export function behindSlowRun(members: readonly Member[]): Because {
  return { reason: 'PREREQUISITE_MERGE_ITEM_SET_ASIDE', isSlow: true, ...causeAmong(members) };
}

function causeAmong(members: readonly Member[]): Pick<Because, 'prNumber' | 'among'> {
  const [first, ...others] = members.map(({ prNumber }) => prNumber);
  return first === undefined || others.length > 0
    ? { among: members.map(({ prNumber }) => prNumber) }
    : { prNumber: first };
}

/** Abandons everything built on a candidate of the line. */
export function abandonBehind(work: Work, candidate: Candidate, because: Because): void {
  const submissions = new Set(candidate.members.map(({ submission }) => submission));
  for (const { number, beneath } of lineOf(work.queue)) {
    const other = findCandidate(work.queue, number);
    if (other === undefined || !beneath.some(({ submission }) => submissions.has(submission))) continue;
    abandonOne(work, other, because, new Set());
  }
}

/** Abandons the whole line, because the target branch was pushed to outside the queue. */
// SPEC C25
export function abandonLine(work: Work, because: Because): void {
  for (const candidate of lineOf(work.queue)) abandonOne(work, candidate, because, new Set());
}

/** Takes entries out of all candidates of the line. Their own state does not change. */
// SPEC C34
export function takeOut(work: Work, entries: readonly Entry[], because: Because): void {
  if (entries.every(({ place }) => place.kind !== 'line')) return;
  const leaving = new Set(entries.map(({ prNumber }) => prNumber));
  abandonAllWith(work, entries.map(toMember), because, leaving);
}

function abandonAllWith(
  work: Work,
  members: readonly Member[],
  because: Because,
  leaving: ReadonlySet<PrNumber>,
): void {
  const submissions = new Set(members.map(({ submission }) => submission));
  for (const candidate of candidatesOf(work.queue)) {
    const isAffected =
      (isOfLine(candidate) || candidate.purpose.kind === 'direct' || candidate.purpose.kind === 'repair') &&
      compositionOf(candidate).some(({ submission }) => submissions.has(submission));
    if (isAffected) abandonOne(work, candidate, because, leaving);
  }
}

function abandonOne(work: Work, candidate: Candidate, because: Because, leaving: ReadonlySet<PrNumber>): void {
  if (isBeingLanded(work.queue, candidate)) return;
  endCandidate(work, candidate, because);
  for (const entry of unlanded(work.queue, candidate.members)) {
    const freed = { ...entry, place: WAITING, wasTested: true };
    if (leaving.has(entry.prNumber) || entry.state === 'PENDING' || entry.state === 'NOT_READY') keep(work, freed);
    else move(work, freed, { to: 'PENDING', ...seenBy(entry, because) });
  }
}

/** Only others are told who caused it. */
// SPEC O19
function seenBy(entry: Entry, { prNumber, ...itself }: Because): Because {
  return prNumber === undefined || prNumber === entry.prNumber ? itself : { ...itself, prNumber };
}

/** Its members are landing, in this candidate or in one that vouches for it. It cannot be abandoned any more. */
// SPEC L7
export function isBeingLanded(queue: Queue, candidate: Candidate): boolean {
  return unlanded(queue, candidate.members).some((entry) => isLanding(queue, entry));
}
