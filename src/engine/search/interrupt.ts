import { walk } from '../../lib/sorted-list.ts';
import { abandon, isBeingLanded } from '../line/line.ts';
import { type Candidate, compositionOf, isUnderTest } from '../model/candidate.ts';
import { Footprint, targetsOf } from '../model/footprint.ts';
import { conflictOf, WAITING } from '../model/place.ts';
import { policyOf } from '../model/policy.ts';
import { orderKey } from '../model/priority.ts';
import type { PrNumber } from '../model/pull-request.ts';
import {
  type Because,
  type Entry,
  findEntry,
  isAdmitted,
  isLanding,
  mayStartTests,
  ownRunOf,
  type Queue,
} from '../model/queue.ts';
import { isOnlyUrgentLanding, lineOf, unlanded } from '../model/roster.ts';
import { entryOf, keep, stillLive, type Work } from '../model/work.ts';
import { dropYoungestRun } from './prefix-search.ts';

/** Puts urgent entries ahead of everything they overlap with that may be interrupted. */
// SPEC C24, O6
export function makeWayForUrgent(work: Work): void {
  if (!mayStartTests(work.queue)) return;
  for (const prNumber of walk(work.queue.index.pending)) {
    const entry = entryOf(work, prNumber);
    if (entry.priority.value > 0) return;
    const footprint = new Footprint().add(targetsOf(work.queue, entry));
    for (const candidate of stillLive(work, lineOf(work.queue))) {
      if (!isInterruptible(work.queue, candidate)) continue;
      if (isIn(work.queue, candidate, footprint)) abandon(work, candidate, interruptedBy(prNumber));
    }
  }
}

/**
 * An urgent entry that is tested together with others, or on top of them, could not land without them. Its candidate is
 * abandoned, and the entry is tested alone at the front of the line.
 */
// SPEC Q20
export function separateUrgent(work: Work): void {
  if (!isOnlyUrgentLanding(work.queue) || !mayStartTests(work.queue)) return;
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    const urgent = unlanded(work.queue, candidate.members).find(({ priority }) => priority.value === 0);
    if (urgent === undefined || !isMixed(work.queue, candidate)) continue;
    abandon(work, candidate, interruptedBy(urgent.prNumber));
  }
}

/** Entries whose landing has begun are as good as landed. */
function isMixed(queue: Queue, candidate: Candidate): boolean {
  return unlanded(queue, compositionOf(candidate)).some(
    (entry) => entry.priority.value > 0 && !isLanding(queue, entry),
  );
}

/**
 * If no slot is free for an urgent entry, the last interruptible candidate of the line gives up its slot. If there is
 * none, the youngest run of a search in prefixes does.
 */
// SPEC O6
export function freeSlotFor(work: Work, entries: readonly Entry[]): PrNumber | undefined {
  const urgent = entries.find(({ priority }) => priority.value === 0);
  const last = lineOf(work.queue).findLast((other) => isUnderTest(other) && isInterruptible(work.queue, other));
  if (urgent === undefined) return undefined;
  const because = interruptedBy(urgent.prNumber);
  if (last !== undefined) abandon(work, last, because);
  else if (policyOf(work.queue).bisectionConcurrency !== 0 || !dropYoungestRun(work, because)) return undefined;
  return urgent.prNumber;
}

/**
 * A candidate that is landing or urgent, or beneath an urgent one, is not interrupted. Urgent entries do not interrupt
 * each other.
 */
// SPEC O7
export function isInterruptible(queue: Queue, candidate: Candidate): boolean {
  if (isUrgent(queue, candidate) || isBeingLanded(queue, candidate)) return false;
  const members = new Set(candidate.members.map(({ submission }) => submission));
  return !lineOf(queue).some(
    (other) => isUrgent(queue, other) && other.beneath.some(({ submission }) => members.has(submission)),
  );
}

function isUrgent(queue: Queue, candidate: Candidate): boolean {
  return unlanded(queue, candidate.members).some(({ priority }) => priority.value === 0);
}

function isIn(queue: Queue, candidate: Candidate, footprint: Footprint): boolean {
  return unlanded(queue, candidate.members).some((entry) => footprint.overlaps(targetsOf(queue, entry)));
}

function interruptedBy(prNumber: PrNumber): Because {
  return { reason: 'SKIP_THE_LINE_INTERRUPTED', prNumber };
}

/** Puts an entry back into the line once the entry it conflicts with is no longer ahead of it. */
// SPEC C33
export function releaseSetAside(work: Work): void {
  for (const prNumber of walk(work.queue.index.aside)) {
    const entry = entryOf(work, prNumber);
    if (!isBehindItsConflict(work.queue, entry)) keep(work, { ...entry, place: WAITING });
  }
}

function isBehindItsConflict(queue: Queue, entry: Entry): boolean {
  const ahead = conflictOf(entry);
  const other = ahead === undefined ? undefined : findEntry(queue, ahead);
  // An entry that landed or left is not waited for, even if it was submitted again.
  if (other === undefined || !isAdmitted(other) || conflictOf(other) === entry.prNumber) return false;
  if (orderKey(other) < orderKey(entry)) return true;
  // An entry under test stays ahead whatever its priority, unless an urgent entry may interrupt it.
  const own = ownRunOf(queue, other);
  if (own !== undefined) return entry.priority.value > 0 || !isInterruptible(queue, own);
  return other.place.kind === 'search' && entry.priority.value > 0;
}
