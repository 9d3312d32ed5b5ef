import { assert } from '../../lib/assert.ts';
import { listOf } from '../../lib/int-map.ts';
import { present } from '../../lib/present.ts';
import { giveUpDoubtfulSearch, isOnDoubtfulBase, mayBlame, removeForFailure } from '../evidence/suspicion.ts';
import { learnFailure } from '../line/learn.ts';
import { behindFailedRun, takeOut } from '../line/line.ts';
import { findSearch, marksOf, startableIn } from '../line/marks.ts';
import { askAbout, stopAsking } from '../line/questions.ts';
import { removeEntry } from '../line/remove-entry.ts';
import { beginSearch, clear, dropRuns, keepSearch, releaseAbove, startRun } from '../line/search-runs.ts';
import { branchSubjectOf, type Candidate, compositionOf, isRunAgain, type Member } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import type { Because, Entry, Queue } from '../model/queue.ts';
import { composedWithOf, runsOfSearch, unlanded } from '../model/roster.ts';
import { partOf, type Search, setKey } from '../model/search.ts';
import { signsOfRun } from '../model/signature.ts';
import { carriedOnly } from '../model/stack.ts';
import { entryOf, keepCandidate, move, type Work } from '../model/work.ts';

/**
 * Starts the search for the culprits of a failed batch that no other entry is to blame for. Its members leave the line.
 *
 * The batch is split in two. Both parts are tested, the second on top of the first:
 *
 *   A B C D fails         -> parts AB | CD: run AB, run AB+CD
 *   AB passes             -> A and B return to the line; they are the survivors on which the rest is tested
 *   AB fails              -> parts A | B | CD; CD waits, because its result says nothing without AB's
 *   a part of one fails   -> it is the culprit; everything behind it is tested again as one part on the survivors
 *
 * A pass here never lands anything. A survivor lands from the line, without a second run if its tree is the same.
 */
// SPEC B4
export function searchInHalves(work: Work, candidate: Candidate): void {
  const { queue } = work;
  const { head: base } = queue;
  const { members } = candidate;
  assert(base !== undefined, 'a candidate of the line has a target');
  const isOnBase = unlanded(queue, candidate.beneath).length === 0 && composedWithOf(queue, candidate).length === 0;
  takeOut(work, unlanded(queue, members), behindFailedRun(members));
  for (const { prNumber } of members) {
    const entry = entryOf(work, prNumber);
    const { reason: _reason, ...failure } = entry.because;
    move(work, entry, { to: 'PENDING', ...failure, reason: 'BISECTION_REQUIRED', candidate: candidate.number });
  }
  const failedSets = isOnBase ? [setKey(members)] : [];
  const cuts = halvesOf(members.length);
  const asking = askAbout(work, candidate);
  beginSearch(work, { how: 'halves', base, isOnHead: true, members, cuts, failedSets, ...present({ asking }) });
}

/** The larger half comes first. */
function halvesOf(length: number): readonly number[] {
  return length === 1 ? [1] : [Math.ceil(length / 2), length];
}

/** Concludes the first part of a search; false if it is still open. */
export function concludeHalves(work: Work, number: number): boolean {
  const search = rememberFailedSets(work, number);
  const front = search?.cuts[0];
  if (search === undefined || front === undefined) return false;
  const run = runOfPart(work.queue, search, 0);
  if (run?.state === 'passed') {
    if (!contradict(work, search, run)) clear(work, search, front, run);
    return true;
  }
  if (run?.state !== 'failed' || isRunAgain(run)) return false;
  return front === 1 ? blameFront(work, search, run) : splitFront(work, search, run);
}

/** A probe of members that failed together passed. They are tested again as one part. */
// SPEC B22
function contradict(work: Work, search: Search, run: Candidate): boolean {
  if (run.question === undefined || !search.failedSets.includes(setKey(compositionOf(run)))) return false;
  stopAsking(work, search, { candidate: run.number, isContradicted: true });
  const left = findSearch(work.queue, search.number);
  if (left !== undefined) keepSearch(work, { ...left, cuts: [left.members.length], isRestHeld: false });
  return true;
}

function runOfPart(queue: Queue, search: Search, index: number): Candidate | undefined {
  return marksOf(queue, search).find(({ length }) => length === search.cuts[index])?.runs[0];
}

function rememberFailedSets(work: Work, number: number): Search | undefined {
  const search = findSearch(work.queue, number);
  if (search === undefined) return undefined;
  const failed = runsOfSearch(work.queue, search).filter(({ state }) => state === 'failed');
  const sets = new Set([...search.failedSets, ...failed.map((run) => setKey(compositionOf(run)))]);
  if (sets.size === search.failedSets.length) return search;
  const known = { ...search, failedSets: [...sets] };
  keepSearch(work, known);
  return known;
}

// SPEC B6
function blameFront(work: Work, { number }: Search, run: Candidate): boolean {
  const [entry] = unlanded(work.queue, run.members);
  assert(entry !== undefined && run.failure !== undefined, 'a failed part has a live member and a failure');
  if (work.queue.hold === undefined && isOnDoubtfulBase(work.queue, run)) {
    giveUpDoubtfulSearch(work, run);
    return true;
  }
  if (policyOf(work.queue).confirms) {
    confirmFront(work, number, run);
    return true;
  }
  if (!mayBlame(work.queue, run)) return false;
  learnFailure(work, entry, run.failure);
  removeForFailure(work, entry, run, run.failure);
  regroupRest(work, number, 0, { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', prNumber: entry.prNumber });
  return true;
}

/**
 * The first member failed alone. It leaves for a search of its own, and the others go on without it. The failure of the
 * last group with it counts as its first, as far as both agree.
 */
// SPEC V66
function confirmFront(work: Work, number: number, run: Candidate): void {
  const search = findSearch(work.queue, number);
  assert(search !== undefined, 'a search with a run goes on');
  const { base, isOnHead, survivors, members, cuts, asking } = search;
  const own = members.slice(0, 1);
  const isOfGroup = (other: Candidate) =>
    other.failure !== undefined && other.members.length > 1 && other.members.some(isOneOf(own));
  const group = listOf(work.queue.passes).findLast(isOfGroup);
  keepSearch(work, { ...search, members: members.slice(1), cuts: cuts.slice(1).map((cut) => cut - 1) });
  const signs = group && signsOfRun(group);
  const begun = { how: 'prefixes' as const, base, isOnHead, survivors, members: own, ...present({ signs, asking }) };
  const bisection = beginSearch(work, begun, search);
  keepCandidate(work, { ...run, namedFor: branchSubjectOf(run), purpose: { kind: 'bisection', bisection } });
  regroupRest(work, number, 0, behindFailedRun(own));
  for (const { prNumber } of own) releaseAbove(work, prNumber, behindFailedRun(own));
}

function isOneOf(members: readonly Member[]): (member: Member) => boolean {
  return ({ submission }) => members.some((other) => other.submission === submission);
}

// SPEC B6
function splitFront(work: Work, search: Search, run: Candidate): boolean {
  const checks = run.failure?.checks ?? [];
  // SPEC B13
  regroupRest(work, search.number, 1, behindFailedRun(run.members));
  dropRuns(work, search, [run], { reason: 'BISECTION_REQUIRED', candidate: run.number, checks });
  splitFirst(work, search.number);
  return true;
}

function splitFirst(work: Work, number: number): void {
  const search = findSearch(work.queue, number);
  const [front, ...rest] = search?.cuts ?? [];
  if (search !== undefined && front !== undefined)
    keepSearch(work, {
      ...search,
      cuts: [...halvesOf(front), ...rest],
      isRestHeld: search.isRestHeld && rest.length > 0,
    });
}

/** Joins everything behind the first `from` parts into one untested part. */
function regroupRest(work: Work, number: number, from: number, because: Because): void {
  const search = findSearch(work.queue, number);
  if (search === undefined || search.cuts.length <= from) return;
  const { cuts, members } = search;
  const longer = marksOf(work.queue, search).filter(({ length }) => length > (cuts[from - 1] ?? 0));
  const runs = longer.flatMap((mark) => mark.runs);
  dropRuns(work, search, runs, because);
  keepSearch(work, { ...search, cuts: [...cuts.slice(0, from), members.length], isRestHeld: true });
}

/** Starts the first part that can start. Parts with a known result are skipped. */
export function startNextPart(work: Work, number: number): void {
  for (;;) {
    const search = findSearch(work.queue, number);
    const index = search === undefined ? -1 : startableIn(work.queue, search);
    const length = search?.cuts[index];
    if (search === undefined || length === undefined) return;
    const isKnown = isKnownToFail(work.queue, search, length);
    const isApart = canDetach(work.queue, search, index);
    // The upper part of a stack waits for the lower one: a run of both would have the tree that failed.
    if (isKnown && !isApart && index === search.cuts.length - 1)
      return keepSearch(work, { ...search, isRestHeld: true });
    if (!isKnown || !isApart) return startRun(work, search, { from: search.cuts[index - 1] ?? 0, length });
    skipRun(work, search, index);
  }
}

function isKnownToFail(queue: Queue, { survivors, members, failedSets }: Search, length: number): boolean {
  if (!policyOf(queue).skipsKnownFailures) return false;
  const tested = [...survivors, ...members.slice(0, length)];
  // A failure alone on the base may be the fault of the base, and a removal needs a run: these are tested, not derived.
  if (length === 1 && policyOf(queue).confirms) return false;
  return tested.length > 1 && failedSets.includes(setKey(tested));
}

/** Apart from the others, a part would be tested without those below it, or the others without it. */
function canDetach(queue: Queue, search: Search, index: number): boolean {
  const part = unlanded(queue, partOf(search, index));
  const rest = unlanded(queue, search.members).filter((entry) => !part.includes(entry));
  const isWhole = (entries: readonly Entry[]) => carriedOnly(queue, entries, 'alone').length === entries.length;
  return index === 0 || (isWhole(part) && isWhole(rest));
}

/**
 * Exactly this set failed before in this search, so it is not tested again. A part of several is split at once. A part
 * of one is to blame if all others are cleared. Until then it is tested alone.
 */
// SPEC B7, B14
function skipRun(work: Work, search: Search, index: number): void {
  const { number, cuts } = search;
  if (index > 0) return detach(work, search, index);
  if ((cuts[0] ?? 0) > 1) return splitFirst(work, number);
  const [entry] = unlanded(work.queue, partOf(search, 0));
  assert(entry !== undefined, 'a part has live members');
  removeEntry(work, entry, { to: 'FAILED', reason: 'TEST_RUN_FAILED_BY_OPTIMIZATION' });
  regroupRest(work, number, 0, { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', prNumber: entry.prNumber });
}

/** The part becomes a search of its own, which does not wait for what is ahead. */
function detach(work: Work, search: Search, index: number): void {
  const { how, base, isOnHead, failedSets, cuts, asking } = search;
  const members = partOf(search, index);
  const rest = cuts.toSpliced(index, 1).map((cut, at) => (at < index ? cut : cut - members.length));
  keepSearch(work, { ...search, members: search.members.toSpliced(cuts[index - 1] ?? 0, members.length), cuts: rest });
  const begun = { how, base, isOnHead, failedSets, members, cuts: halvesOf(members.length), ...present({ asking }) };
  beginSearch(work, begun, search);
}
