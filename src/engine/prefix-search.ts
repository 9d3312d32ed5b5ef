import { assert } from '../lib/assert.ts';
import type { Bisection, Chain, SearchPart } from './bisection.ts';
import { findBisection, getBisection, keepBisection, runsOf, tidy } from './bisection-runs.ts';
import { branchSubjectOf, type Candidate, type CandidateNumber, type Ending, isUnderTest } from './candidate.ts';
import { learnFailure } from './learn.ts';
import { confirmationsNeeded } from './learned.ts';
import { abandonBehind, behindFailedRun, behindSlowRun } from './line.ts';
import { policyOf } from './policy.ts';
import {
  failuresMissing,
  isBehindAccused,
  isBehindOthers,
  type Mark,
  marksOf,
  membersOf,
  shortestFailure,
} from './prefixes.ts';
import { type Because, type Entry, findCandidate, mayWork, toMember } from './queue.ts';
import { removeEntry } from './remove-entry.ts';
import { candidatesFor, composedWithOf, unlanded } from './roster.ts';
import { findBaseTest, mayBlame, noteFailure, suspicionOf, testBase } from './suspicion.ts';
import { startCandidate } from './test-run.ts';
import { addCandidate, endCandidate, entryOf, keep, keepCandidate, type Move, move, type Work } from './work.ts';
/**
 * A search in prefixes. Its members are in order, and every run tests the survivors and the first few members:
 *
 *   A B C D fails       -> the shortest prefix that is known to fail has 4 members
 *   ~AB passes          -> A and B are cleared and return to the line; C D are left, and the prefix CD fails
 *   ~AB+C fails         -> C is the first culprit, on top of what is cleared. Its failure is confirmed, C is accused,
 *                          and D returns to the line untested
 *
 * A search may also begin without a failure, as a scout: its members are tested on the head before their turn comes. A
 * pass lands nothing. An accused entry is removed only after everything that was ahead of it has ended, because it may
 * need what is ahead.
 */

/** A failed candidate of the line, or one that takes too long, becomes a search. Its run is the run of all members. */
// SPEC K7
export function searchCandidate(work: Work, candidate: Candidate): void {
  const { queue } = work;
  assert(queue.head !== undefined, 'a candidate of the line has a target');
  const { members } = candidate;
  abandonBehind(work, candidate, candidate.state === 'failed' ? behindFailedRun(members) : behindSlowRun(members));
  const number = queue.bisectionsEver + 1;
  // A candidate that was to be composed with others did not test the head.
  const isOnHead = composedWithOf(queue, candidate).length === 0;
  const part: SearchPart = { members: candidate.members, candidates: [candidate.number], isHeld: false };
  beginSearch(work, {
    base: isOnHead ? queue.head : candidate.base,
    isOnHead,
    chain: { number: 1, survivors: isOnHead ? [] : candidate.beneath, parts: [part] },
  });
  keepCandidate(work, {
    ...candidate,
    namedFor: branchSubjectOf(candidate),
    purpose: { kind: 'bisection', bisection: number },
  });
  for (const entry of unlanded(work.queue, candidate.members)) {
    keep(work, { ...entry, candidate: undefined, bisection: number });
  }
}

/** Tests pending entries on the head before their turn. */
// SPEC K9
export function startScout(work: Work, entries: readonly Entry[]): void {
  const { head } = work.queue;
  assert(head !== undefined, 'tests start only on a known target');
  const members = entries.map(toMember);
  const part: SearchPart = { members, candidates: [], isHeld: false };
  const number = beginSearch(work, {
    base: head,
    isOnHead: true,
    chain: { number: 1, survivors: [], parts: [part] },
  });
  for (const { prNumber } of entries) keep(work, { ...entryOf(work, prNumber), bisection: number, wasTested: true });
  startPrefix(work, number, members.length);
}

function beginSearch(
  work: Work,
  { base, isOnHead, chain }: Pick<Bisection, 'base' | 'isOnHead'> & { readonly chain: Chain },
): number {
  const number = work.queue.bisectionsEver + 1;
  const search: Bisection = {
    number,
    how: 'prefixes',
    base,
    isOnHead,
    chains: [chain],
    failedSets: [],
    admissions: work.queue.admissions,
    accused: undefined,
  };
  work.queue = { ...work.queue, bisectionsEver: number, bisections: [...work.queue.bisections, search] };
  return number;
}

/** Starts a run of the first `length` members; false if the search has no such prefix. */
export function startPrefix(work: Work, number: number, length: number, isAgain = false): boolean {
  const search = findBisection(work, number);
  const [chain] = search?.chains ?? [];
  if (search === undefined || chain === undefined) return false;
  const members = membersOf(search);
  if (!Number.isInteger(length) || length < 1 || length > members.length) return false;
  const candidate = addCandidate(work, {
    purpose: { kind: 'bisection', bisection: number, ...(isAgain ? { isAgain } : {}) },
    base: search.base,
    beneath: chain.survivors,
    members: members.slice(0, length),
    parent: undefined,
  });
  const parts = cutAt(chain.parts, length).map((part, index, all) =>
    lengthTo(all, index) === length ? { ...part, candidates: [...part.candidates, candidate.number] } : part,
  );
  keepBisection(work, { ...search, chains: [{ ...chain, parts }] });
  startCandidate(work, candidate);
  return true;
}

function lengthTo(parts: readonly SearchPart[], index: number): number {
  return parts.slice(0, index + 1).reduce((sum, { members }) => sum + members.length, 0);
}

/** Splits the part that contains the cut. The longer prefix keeps its runs. */
function cutAt(parts: readonly SearchPart[], length: number): SearchPart[] {
  let begin = 0;
  return parts.flatMap((part) => {
    const at = length - begin;
    begin += part.members.length;
    if (at <= 0 || at >= part.members.length) return [part];
    const first: SearchPart = { members: part.members.slice(0, at), candidates: [], isHeld: false };
    return [first, { ...part, members: part.members.slice(at) }];
  });
}

/** Ends the run of a search that started last; false if there is none. The search repeats it later. */
export function dropYoungestRun(work: Work, because: Because): boolean {
  const isOfPrefixes = ({ purpose }: Candidate) =>
    purpose.kind === 'bisection' &&
    work.queue.bisections.some(({ number, how }) => number === purpose.bisection && how === 'prefixes');
  const runs = candidatesFor(work.queue, 'bisection').filter((run) => isUnderTest(run) && isOfPrefixes(run));
  const youngest = runs.reduce<Candidate | undefined>(
    (a, b) => (a === undefined || b.number > a.number ? b : a),
    undefined,
  );
  if (youngest?.purpose.kind !== 'bisection') return false;
  const search = getBisection(work, youngest.purpose.bisection);
  const chains = search.chains.map((chain) => ({
    ...chain,
    parts: chain.parts.map((part) => ({
      ...part,
      candidates: part.candidates.filter((number) => number !== youngest.number),
    })),
  }));
  endCandidate(work, youngest, { reason: because.reason, prNumber: because.prNumber });
  keepBisection(work, { ...search, chains });
  settleSearched(work, search.number, because);
  return true;
}

/** Nothing has changed in this step that a conclusion depends on. Most steps are like that for most searches. */
export function isUntouched({ before, queue }: Work, search: Bisection): boolean {
  if (queue.hold !== before.hold || queue.state !== before.state || queue.parked !== before.parked) return false;
  if (confirmationsNeeded(queue.learned) !== confirmationsNeeded(before.learned)) return false;
  const isSameRun = (number: CandidateNumber) => findCandidate(before, number) === findCandidate(queue, number);
  const areSame = search.chains.every(({ parts }) => parts.every(({ candidates }) => candidates.every(isSameRun)));
  if (!areSame || search.accused === undefined) return areSame;
  const [entry] = unlanded(queue, membersOf(search));
  return entry !== undefined && !search.accused.isLast && isBehindOthers(queue, search, entry);
}

/** Draws one conclusion from the results of a search; false if there is none. */
export function concludePrefixes(work: Work, number: number): boolean {
  tidy(work, number);
  const search = findBisection(work, number);
  if (search === undefined) return false;
  const marks = marksOf(work.queue, search.chains);
  const passed = marks.findLast(({ runs }) => runs.some(({ state }) => state === 'passed'));
  if (passed !== undefined) return clearPrefix(work, search, passed, shortestFailure(marks));
  const failed = shortestFailure(marks);
  if (failed === undefined) return false;
  if (marks.at(-1) !== failed) return dropLonger(work, search, failed);
  if (failed.length > 1) return false;
  const before = work.queue;
  const isTrusted = isBaseTrusted(work, search);
  if (failuresMissing(work.queue, search) <= 0 && accuse(work, search, failed, isTrusted)) return true;
  return work.queue !== before;
}

/** The members of the prefix are cleared. If a shorter or equal prefix had failed, that was a flake. */
// SPEC K8
function clearPrefix(work: Work, search: Bisection, passed: Mark, failed: Mark | undefined): boolean {
  const { number, isOnHead } = search;
  const proof = passed.runs.find(({ state }) => state === 'passed');
  const [chain] = search.chains;
  assert(proof !== undefined && chain !== undefined, 'a passed prefix has a run');
  const parts = cutAt(chain.parts, passed.length);
  const index = parts.findIndex((_part, at) => lengthTo(parts, at) === passed.length);
  endRuns(work, parts.slice(0, index + 1), { reason: 'BISECTION_TEST_RUN_PASSED', prNumber: undefined });
  const members = membersOf(search).slice(0, passed.length);
  const rest = parts.slice(index + 1);
  for (const part of rest) for (const run of runsOf(work.queue, part)) moveBeneath(work, run, passed.length);
  const isFlake = failed !== undefined && failed.length <= passed.length;
  keepBisection(work, {
    ...search,
    chains: [{ ...chain, survivors: [...chain.survivors, ...members], parts: rest }],
    accused: undefined,
  });
  const clearedBySearch = isOnHead && proof.pass?.waived === undefined ? number : undefined;
  for (const entry of unlanded(work.queue, members)) {
    const cleared = { ...entry, bisection: undefined, wasTested: true, isCleared: true, clearedBySearch };
    move(work, cleared, { to: 'PENDING', reason: 'BISECTION_TEST_RUN_PASSED', candidate: proof.number });
  }
  if (isFlake) releaseRest(work, number, 0, { reason: 'BISECTION_TEST_RUN_PASSED', candidate: proof.number });
  return true;
}

/** The first members of a longer run are cleared. From now on it tests only the others. */
function moveBeneath(work: Work, run: Candidate, length: number): void {
  const { beneath, members } = run;
  const cleared = members.slice(0, length);
  const namedFor = branchSubjectOf(run);
  keepCandidate(work, { ...run, namedFor, beneath: [...beneath, ...cleared], members: members.slice(length) });
}

/** Longer prefixes fail too. Their runs end. */
function dropLonger(work: Work, search: Bisection, failed: Mark): boolean {
  const [chain] = search.chains;
  assert(chain !== undefined, 'a search has a chain');
  const index = chain.parts.findIndex((_part, at) => lengthTo(chain.parts, at) === failed.length);
  const kept = chain.parts.slice(0, index + 1);
  const dropped = chain.parts.slice(index + 1);
  const culprit = chain.parts[0]?.members[0]?.prNumber;
  endRuns(work, dropped, { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', prNumber: culprit });
  const members = dropped.flatMap((part) => part.members);
  const rest: SearchPart[] = members.length === 0 ? [] : [{ members, candidates: [], isHeld: false }];
  keepBisection(work, { ...search, chains: [{ ...chain, parts: [...kept, ...rest] }] });
  return true;
}

function endRuns(work: Work, parts: readonly SearchPart[], ending: Ending): void {
  for (const part of parts) for (const run of runsOf(work.queue, part)) endCandidate(work, run, ending);
}

/** Returns the members behind the first `from` to the line, untested. */
export function releaseRest(work: Work, number: number, from: number, because: Because): boolean {
  const search = findBisection(work, number);
  const [chain] = search?.chains ?? [];
  if (search === undefined || chain === undefined) return false;
  const rest = membersOf(search).slice(from);
  if (rest.length === 0) return false;
  const parts = cutAt(chain.parts, from);
  const index = parts.findIndex((_part, at) => lengthTo(parts, at) > from);
  endRuns(work, parts.slice(index), { reason: because.reason, prNumber: because.prNumber });
  keepBisection(work, { ...search, chains: [{ ...chain, parts: parts.slice(0, index) }] });
  for (const entry of unlanded(work.queue, rest)) {
    move(work, { ...entry, bisection: undefined, wasTested: true }, { to: 'PENDING', ...because });
  }
  tidy(work, number);
  return true;
}

/** The first member failed often enough on what is cleared. */
// SPEC K10
function accuse(work: Work, search: Bisection, failed: Mark, isTrusted: boolean): boolean {
  const { queue } = work;
  const run = failed.runs.findLast(({ state }) => state === 'failed');
  const [entry] = unlanded(queue, membersOf(search).slice(0, 1));
  assert(run?.failure !== undefined && entry !== undefined, 'a failed prefix has a live member and a failure');
  const because = behindFailedRun([toMember(entry)]);
  if (search.accused === undefined) {
    keepBisection(work, { ...search, accused: { isLast: false } });
    learnFailure(work, entry, run.failure);
    releaseRest(work, search.number, 1, because);
    return true;
  }
  if (queue.hold !== undefined) return false;
  if (isBehindOthers(queue, search, entry)) return waitAgain(work, search);
  if (!search.isOnHead && !search.accused.isLast) return rebase(work, search);
  if (!isTrusted || !mayBlame(queue, run)) return false;
  if (isBehindAccused(queue, search, entry)) return false;
  noteFailure(work, entry, run, run.failure);
  const { at: _at, ...failure } = run.failure;
  removeEntry(work, entry, { to: 'FAILED', ...failure, candidate: run.number });
  return true;
}

/** An accused entry ahead was cleared after all, and lands. A failure without it decides nothing. */
function waitAgain(work: Work, search: Bisection): boolean {
  if (search.accused?.isLast !== true) return false;
  keepBisection(work, { ...search, isOnHead: false, accused: { isLast: false } });
  return true;
}

/** The target branch has moved since, so failures on the present head decide. Those before may have lacked what landed. */
// SPEC K12
function rebase(work: Work, search: Bisection): boolean {
  const { head } = work.queue;
  const [chain] = search.chains;
  if (head === undefined || chain === undefined) return false;
  endRuns(work, chain.parts, { reason: 'TARGET_BRANCH_MOVED', prNumber: undefined });
  const parts = chain.parts.map((part) => ({ ...part, candidates: [] }));
  const chains = [{ ...chain, survivors: [], parts }];
  keepBisection(work, { ...search, base: head, isOnHead: true, accused: { isLast: true }, chains });
  return true;
}

/** A commit that never passed by itself is tested before an entry is removed for a failure alone on it. */
// SPEC K13
function isBaseTrusted(work: Work, { base, chains: [chain] }: Bisection): boolean {
  if ((chain?.survivors.length ?? 0) > 0 || base.isProven === true) return true;
  if (suspicionOf(work.queue, base)?.cleared !== undefined) return true;
  if (findBaseTest(work.queue, base) === undefined && mayWork(work.queue)) testBase(work, base);
  return false;
}

/**
 * A member is under test as long as one run that contains it is, and has failed as long as one has. A member without a
 * run is behind a shorter run that failed, or its run was ended `because` of something else.
 */
export function settleSearched(work: Work, number: number, because?: Because): void {
  const search = findBisection(work, number);
  if (search?.how !== 'prefixes') return;
  const marks = marksOf(work.queue, search.chains);
  const runs = marks.flatMap((mark) => mark.runs);
  const suspects = membersOf(search).slice(0, shortestFailure(marks)?.length ?? 0);
  const waiting: Move = { to: 'PENDING', ...(because ?? behindFailedRun(suspects)) };
  for (const entry of unlanded(work.queue, membersOf(search))) {
    const own = runs.filter(({ members }) => members.some(({ submission }) => submission === entry.submission));
    const testing = own.find(isUnderTest);
    const failed = own.findLast(({ state }) => state === 'failed');
    if (testing !== undefined)
      settleAs(work, entry, { to: 'TESTING', reason: 'TEST_RUN_STARTED', candidate: testing.number });
    else if (failed?.failure !== undefined) {
      const { at: _at, ...failure } = failed.failure;
      settleAs(work, entry, { to: 'PENDING_FAILURE', ...failure, candidate: failed.number });
    } else if (search.accused === undefined) settleAs(work, entry, waiting);
  }
}

function settleAs(work: Work, entry: Entry, state: Move): void {
  if (entry.state !== state.to) move(work, entry, state);
}

/** The queue tests nothing ahead of its turn any more: searches without a failure end, and their entries wait for their turn. */
// SPEC K14
export function dissolveScouts(work: Work): void {
  if (policyOf(work.queue).scouts) return;
  for (const { number, how, chains } of work.queue.bisections) {
    if (how !== 'prefixes' || shortestFailure(marksOf(work.queue, chains)) !== undefined) continue;
    if (findBisection(work, number)?.accused !== undefined) continue;
    releaseRest(work, number, 0, { reason: 'BISECTION_REQUIRED' });
  }
}
