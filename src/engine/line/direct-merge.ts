import { valuesOf } from '../../lib/int-map.ts';
import { walk } from '../../lib/sorted-list.ts';
import type { Candidate } from '../model/candidate.ts';
import { Footprint, footprintOf, targetsOf } from '../model/footprint.ts';
import { inLine, WAITING } from '../model/place.ts';
import type { UpToDate } from '../model/pull-request.ts';
import { type Entry, isAdmitted, mayStartTests, type Queue, toMember } from '../model/queue.ts';
import { isReady, readinessOf } from '../model/readiness.ts';
import { appFor, isReportedBy, type RequiredChecks } from '../model/required.ts';
import { candidatesFor, freezeOf, unlanded } from '../model/roster.ts';
import { needsOf } from '../model/stack.ts';
import { addCandidate, endCandidate, entryOf, keep, type Work } from '../model/work.ts';
import { lineLimit } from './slots.ts';
import { passCandidate, startCandidate } from './test-run.ts';

/**
 * Lands a pull request without a run. Its head contains the head of the target branch and has passed the required
 * checks, so it is exactly what would be tested. If no entry overlaps with it, it lands straight from NOT_READY. Its
 * commit is built like any other and must have the tree that was tested.
 */
export function planDirectMerges(work: Work): void {
  giveUpOutdated(work);
  if (work.queue.settings.directMergeMode !== 'ALWAYS' || work.queue.state !== 'RUNNING') return;
  if (!mayStartTests(work.queue) || work.queue.landing !== undefined) return;
  if (work.queue.index.admitted >= lineLimit(work.queue)) return;
  for (const prNumber of walk(work.queue.index.ready)) {
    const entry = entryOf(work, prNumber);
    if (!isEligible(work.queue, entry)) continue;
    startDirectMerge(work, entry);
    // The next one would overlap with this one or wait for its landing.
    return;
  }
}

// SPEC L8
function isEligible(queue: Queue, entry: Entry): boolean {
  return (
    !entry.isDirectMergeSpent &&
    needsOf(entry).length === 0 &&
    freezeOf(queue, entry) === undefined &&
    entry.pr.upToDate !== undefined &&
    entry.pr.upToDate.targetHead === queue.head?.sha &&
    candidatesFor(queue, 'direct').length === 0 &&
    isLaneEmpty(queue, entry)
  );
}

/** No entry of the line shares a target with it. */
function isLaneEmpty(queue: Queue, entry: Entry): boolean {
  if (queue.index.admitted === 0) return true;
  if (queue.settings.mode === 'SINGLE') return false;
  const footprint = new Footprint().add(targetsOf(queue, entry));
  for (const other of valuesOf(queue.entries)) {
    if (isAdmitted(other) && footprint.overlaps(targetsOf(queue, other))) return false;
  }
  return true;
}

function startDirectMerge(work: Work, entry: Entry): void {
  const { head } = work.queue;
  if (head === undefined) return;
  const candidate = addCandidate(work, {
    purpose: { kind: 'direct' },
    base: head,
    beneath: [],
    members: [toMember(entry)],
    parent: undefined,
  });
  keep(work, { ...entry, place: inLine(candidate) });
  startCandidate(work, candidate);
}

/** The commit is built. Its tree must be exactly the one that the checks on the pull request's head tested. */
// SPEC L28
export function concludeDirectMerge(work: Work, candidate: Candidate, required: RequiredChecks): void {
  const [entry] = unlanded(work.queue, candidate.members);
  const tested = entry?.pr.upToDate;
  const isProven =
    tested !== undefined &&
    entry?.pr.headSha === candidate.members[0]?.headSha &&
    tested.tree === candidate.commit?.tree &&
    tested.targetHead === candidate.base.sha &&
    required.names.every((name) => hasPassed(tested, required, name));
  if (isProven) passCandidate(work, { ...candidate, required }, 'head_checks');
  else giveUpDirectMerge(work, candidate);
}

function hasPassed({ passedChecks }: UpToDate, required: RequiredChecks, name: string): boolean {
  const app = appFor(required, name);
  return passedChecks.some((passed) =>
    typeof passed === 'string'
      ? passed === name && app === undefined
      : passed.name === name && (app === undefined || isReportedBy(app, passed)),
  );
}

/** It goes the way of all others. */
export function giveUpDirectMerge(work: Work, candidate: Candidate): void {
  endCandidate(work, candidate, { reason: 'MERGE_ITEM_NOW_READY' });
  for (const entry of unlanded(work.queue, candidate.members)) {
    // Another head may try it again.
    const isDirectMergeSpent = entry.pr.headSha === candidate.members[0]?.headSha;
    keep(work, { ...entry, place: WAITING, isDirectMergeSpent });
  }
}

/** A direct merge takes a moment. Entries that overlap with it wait and are tested on its result. */
export function isBehindDirectMerge(queue: Queue, entry: Entry): boolean {
  return candidatesFor(queue, 'direct').some((candidate) =>
    footprintOf(queue, candidate.members).overlaps(targetsOf(queue, entry)),
  );
}

/**
 * A paused queue continues the direct merge later. A draining queue admits no entry, so it gives the direct merge up. In
 * a freeze the entry goes into the line and is tested, and others need not wait for it.
 */
function isWanted(queue: Queue, entry: Entry): boolean {
  const isOpen = queue.state === 'RUNNING' || queue.state === 'PAUSED';
  if (!isOpen || freezeOf(queue, entry) !== undefined) return false;
  return queue.settings.directMergeMode === 'ALWAYS' && isReady(readinessOf(queue, entry));
}

function giveUpOutdated(work: Work): void {
  for (const candidate of candidatesFor(work.queue, 'direct')) {
    if (work.queue.landing?.isBegun && work.queue.landing.candidate === candidate.number) continue;
    const [entry] = unlanded(work.queue, candidate.members);
    const isOvertaken =
      entry === undefined ||
      entry.pr.headSha !== candidate.members[0]?.headSha ||
      candidate.base.sha !== work.queue.head?.sha ||
      !isWanted(work.queue, entry) ||
      !isLaneEmpty(work.queue, entry);
    if (isOvertaken) giveUpDirectMerge(work, candidate);
  }
}
