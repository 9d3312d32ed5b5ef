import { assert } from '../../lib/assert.ts';
import { present } from '../../lib/present.ts';
import { endOf, findBaseTest, mayBlame, removeForFailure, suspicionOf, testBase } from '../evidence/suspicion.ts';
import { learnFailure } from '../line/learn.ts';
import { abandonBehind, behindFailedRun, behindSlowRun } from '../line/line.ts';
import { areSame, findSearch, isSettledFailure, type Mark, marksOf, shortestFailure } from '../line/marks.ts';
import { askAbout, controlProbesOf, isUnread, stopAsking } from '../line/questions.ts';
import { removeEntry } from '../line/remove-entry.ts';
import { beginSearch, clear, endLonger, keepSearch, releaseRest, startRun, withPassed } from '../line/search-runs.ts';
import { type Base, branchSubjectOf, type Candidate, isRunAgain, isUnderTest } from '../model/candidate.ts';
import { rateOf } from '../model/learned.ts';
import { policyOf } from '../model/policy.ts';
import { type Because, type Entry, mayWork, type Queue, toMember } from '../model/queue.ts';
import { candidatesFor, composedWithOf, runsOfSearch, unlanded } from '../model/roster.ts';
import type { Search } from '../model/search.ts';
import { failedTestsOf, signsOfRun } from '../model/signature.ts';
import { endCandidate, entryOf, keep, keepCandidate, type Move, move, tell, type Work } from '../model/work.ts';
import { isWaitingForControl, noteControls } from './control.ts';
import { doubtOf, isOpen, isUndecidable } from './doubt.ts';
import { isBehindAccused, isBehindOthers } from './prefixes.ts';

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
  const { members, beneath } = candidate;
  abandonBehind(work, candidate, candidate.state === 'failed' ? behindFailedRun(members) : behindSlowRun(members));
  // A candidate that was to be composed with others did not test the head.
  const isOnHead = composedWithOf(queue, candidate).length === 0;
  const bisection = beginSearch(work, {
    how: 'prefixes',
    base: isOnHead ? queue.head : candidate.base,
    isOnHead,
    survivors: isOnHead ? [] : beneath,
    members,
  });
  const purpose = { kind: 'bisection', bisection } as const;
  keepCandidate(work, { ...candidate, namedFor: branchSubjectOf(candidate), purpose });
}

/** Tests pending entries on the head before their turn. */
// SPEC K9
export function startScout(work: Work, entries: readonly Entry[]): void {
  const { head: base } = work.queue;
  assert(base !== undefined, 'tests start only on a known target');
  const members = entries.map(toMember);
  const number = beginSearch(work, { how: 'prefixes', base, isOnHead: true, members });
  for (const { prNumber } of entries) keep(work, { ...entryOf(work, prNumber), wasTested: true });
  startPrefix(work, number, members.length);
}

/** Starts a run of the first `length` members, if the search has such a prefix. */
export function startPrefix(work: Work, number: number, length: number, isAgain = false): void {
  const search = findSearch(work.queue, number);
  if (search === undefined || !Number.isInteger(length) || length < 1 || length > search.members.length) return;
  // Counted first: an entry whose failure is being confirmed does not change its state for each run.
  for (const entry of length > 1 ? [] : unlanded(work.queue, search.members.slice(0, 1)))
    keep(work, { ...entry, ownRuns: entry.ownRuns + 1 });
  startRun(work, search, { length, isAgain });
}

/** Ends the run of a search that started last; false if there is none. The search repeats it later. */
export function dropYoungestRun(work: Work, because: Because): boolean {
  const runs = candidatesFor(work.queue, 'bisection').filter((run) => isUnderTest(run) && isOfPrefixes(work, run));
  const [youngest] = runs.toSorted((a, b) => b.number - a.number);
  if (youngest?.purpose.kind !== 'bisection') return false;
  endCandidate(work, youngest, because);
  settleSearched(work, youngest.purpose.bisection, because);
  return true;
}

function isOfPrefixes({ queue }: Work, { purpose }: Candidate): boolean {
  return purpose.kind === 'bisection' && findSearch(queue, purpose.bisection)?.how === 'prefixes';
}

/** Nothing has changed in this step that a conclusion depends on. Most steps are like that for most searches. */
export function isUntouched({ before, queue }: Work, search: Search): boolean {
  if (queue.hold !== before.hold || queue.state !== before.state || queue.parked !== before.parked) return false;
  if (policyOf(queue).confirms !== policyOf(before).confirms) return false;
  if (queue.learned !== before.learned && doubtOf(queue, search).missing !== doubtOf(before, search).missing)
    return false;
  if (!areSame(runsOfSearch(before, search), runsOfSearch(queue, search))) return false;
  if (isWaitingForControl(queue, search)) return false;
  if (search.accused === undefined || doubtOf(queue, search).missing > 0) return true;
  const [entry] = unlanded(queue, search.members);
  return entry !== undefined && !search.accused.isLast && isBehindOthers(queue, search, entry);
}

/** Draws one conclusion from the results of a search; false if there is none. */
export function concludePrefixes(work: Work, number: number): boolean {
  const search = findSearch(work.queue, number);
  if (search === undefined) return false;
  const marks = marksOf(work.queue, search);
  const passed = marks.findLast(({ runs }) => runs.some(({ state }) => state === 'passed'));
  const failed = shortestFailure(marks);
  if (concludeControl(work, search)) return true;
  if (passed !== undefined) return clearPassed(work, search, passed, failed);
  if (failed === undefined) return false;
  if (ask(work, search, failed)) return true;
  if (marks.at(-1) !== failed) {
    // Longer prefixes fail too.
    const prNumber = search.members[0]?.prNumber;
    const signs = marks.filter(({ length }) => length > failed.length).flatMap(signsOfMark)[0];
    if (signs !== undefined) keepSearch(work, { ...search, signs });
    endLonger(work, search, failed.length, { reason: 'PREREQUISITE_MERGE_ITEM_FAILED', prNumber });
    return true;
  }
  if (failed.length > 1) return false;
  const before = work.queue;
  noteControls(work, search, failed);
  if (work.queue !== before) return true;
  const isTrusted = isBaseTrusted(work, search);
  if (doubtOf(work.queue, search).missing <= 0) {
    if (accuse(work, search, failed, isTrusted)) return true;
  } else if (giveUpOnFlaky(work, search)) return true;
  return work.queue !== before;
}

/** The first failure decides what the search asks. */
function ask(work: Work, search: Search, { runs }: Mark): boolean {
  const run = runs.findLast(isSettledFailure);
  if (search.asking !== undefined || run === undefined || isUnread(work.queue, run)) return false;
  const asking = askAbout(work, run);
  if (asking !== undefined) keepSearch(work, { ...search, asking });
  return asking !== undefined;
}

/** The tests of the question pass alone, or they fail without any member: then probes say nothing. */
// SPEC B21
function concludeControl(work: Work, search: Search): boolean {
  const run = controlProbesOf(work.queue, search).find(({ state }) => state === 'passed' || state === 'failed');
  if (run === undefined || isRunAgain(run) || search.asking === undefined) return false;
  if (run.state === 'failed') stopAsking(work, search, { candidate: run.number, isContradicted: true });
  else {
    keepSearch(work, { ...search, asking: withPassed(search.asking, run) });
    endCandidate(work, run, { reason: 'BISECTION_TEST_RUN_PASSED' });
  }
  return true;
}

function signsOfMark({ runs }: Mark): readonly (readonly string[])[] {
  return runs.filter(isSettledFailure).map(signsOfRun);
}

/** No more runs of its own would tell whether the entry is to blame. */
// SPEC V71
function giveUpOnFlaky(work: Work, search: Search): boolean {
  const [entry] = unlanded(work.queue, search.members.slice(0, 1));
  const { queue } = work;
  const runs = marksOf(queue, search)[0]?.runs ?? [];
  if (entry === undefined || queue.hold !== undefined || runs.some((run) => isOpen(queue, run))) return false;
  const run = runs.findLast(isSettledFailure);
  if (run?.failure === undefined || !isUndecidable(queue, search, entry.ownRuns)) return false;
  const { missing } = doubtOf(queue, search);
  const rates = failedTestsOf(run).map(({ id, name }) => ({
    name,
    percent: Math.round(100 * rateOf(queue.learned, id)),
  }));
  const flaky = Number.isFinite(missing) ? {} : { flaky: rates.slice(0, MOST_NAMED) };
  const alone = { times: entry.ownRuns, sha: shaOf(queue, search), ...flaky };
  const end = endOf(run, { ...run.failure, alone });
  removeEntry(work, entry, { to: 'FAILED', ...end, reason: 'TEST_RUN_UNDECIDED', candidate: run.number });
  return true;
}

const MOST_NAMED = 5;

/** While the branch is the base plus what the search cleared, runs of its own test the head. */
function shaOf({ head }: Queue, { isOnHead, base }: Search): Base['sha'] {
  return isOnHead && head !== undefined ? head.sha : base.sha;
}

/** The members of the prefix are cleared. If a shorter or equal prefix had failed, that was a flake. */
function clearPassed(work: Work, search: Search, { length, runs }: Mark, failed: Mark | undefined): boolean {
  const passed = runs.filter(({ state }) => state === 'passed');
  const proof = passed.find(({ question }) => question === undefined) ?? passed[0];
  assert(proof !== undefined, 'a passed prefix has a run');
  const isFlake = failed !== undefined && failed.length <= length;
  // SPEC B22
  if (isFlake && proof.question !== undefined) {
    stopAsking(work, search, { candidate: proof.number, isContradicted: true });
    return true;
  }
  clear(work, search, length, proof);
  const because = { reason: 'BISECTION_TEST_RUN_PASSED' as const, candidate: proof.number };
  if (isFlake) releaseRest(work, search.number, 0, because);
  return true;
}

/** The first member failed often enough on what is cleared. */
// SPEC K10
function accuse(work: Work, search: Search, failed: Mark, isTrusted: boolean): boolean {
  const { queue } = work;
  const run = failed.runs.findLast(({ state }) => state === 'failed');
  const [entry] = unlanded(queue, search.members.slice(0, 1));
  assert(run?.failure !== undefined && entry !== undefined, 'a failed prefix has a live member and a failure');
  if (search.accused === undefined) {
    keepSearch(work, { ...search, accused: { isLast: false } });
    tell(work, entry.prNumber);
    releaseRest(work, search.number, 1, behindFailedRun([toMember(entry)]));
    return true;
  }
  if (queue.hold !== undefined || isBehindOthers(queue, search, entry)) return false;
  if (!search.isOnHead && !search.accused.isLast) return rebase(work, search);
  if (!isTrusted || !mayBlame(queue, run) || isBehindAccused(queue, search, entry)) return false;
  if (isWaitingForControl(queue, search)) {
    // Its page says so once. Before this step it had not failed often enough.
    if (doubtOf(work.before, search).missing > 0) tell(work, entry.prNumber);
    return false;
  }
  learnFailure(work, entry, run.failure);
  const { alone: times, test } = doubtOf(queue, search);
  const alone = { times, sha: shaOf(queue, search), ...present({ test: test?.name }) };
  removeForFailure(work, entry, run, policyOf(queue).confirms ? { ...run.failure, alone } : run.failure);
  return true;
}

/** The target branch has moved since, so failures on the present head decide. Those before may have lacked what landed. */
// SPEC K12
function rebase(work: Work, search: Search): boolean {
  const { head } = work.queue;
  if (head === undefined) return false;
  const [signs] = search.signs === undefined ? marksOf(work.queue, search).flatMap(signsOfMark) : [search.signs];
  endLonger(work, search, 0, { reason: 'TARGET_BRANCH_MOVED' });
  const moved = { ...search, base: head, isOnHead: true, survivors: [], accused: { isLast: true } };
  keepSearch(work, { ...moved, ...present({ signs }) });
  return true;
}

/** A commit that never passed by itself is tested before an entry is removed for a failure alone on it. */
// SPEC K13
function isBaseTrusted(work: Work, { base, survivors }: Search): boolean {
  if (survivors.length > 0 || base.isProven === true) return true;
  if (suspicionOf(work.queue, base)?.cleared !== undefined) return true;
  if (findBaseTest(work.queue, base) === undefined && mayWork(work.queue)) testBase(work, base);
  return false;
}

/**
 * A member is under test as long as one run that contains it is, and has failed as long as one has. A member without a
 * run is behind a shorter run that failed, or its run was ended `because` of something else.
 */
export function settleSearched(work: Work, number: number, because?: Because): void {
  const search = findSearch(work.queue, number);
  if (search?.how !== 'prefixes') return;
  const marks = marksOf(work.queue, search);
  const runs = marks.flatMap((mark) => mark.runs);
  const suspects = search.members.slice(0, shortestFailure(marks)?.length ?? 0);
  const waiting: Move = { to: 'PENDING', ...(because ?? behindFailedRun(suspects)) };
  for (const entry of unlanded(work.queue, search.members)) {
    const own = runs.filter(({ members }) => members.some(({ submission }) => submission === entry.submission));
    const testing = own.find(isUnderTest);
    const failed = own.findLast(({ state }) => state === 'failed');
    const isConfirmed = failed?.members.length === 1 && policyOf(work.queue).confirms;
    if (testing !== undefined && !isConfirmed)
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
  for (const search of work.queue.bisections) {
    if (search.how !== 'prefixes' || search.accused !== undefined) continue;
    if (shortestFailure(marksOf(work.queue, search)) !== undefined) continue;
    releaseRest(work, search.number, 0, { reason: 'BISECTION_REQUIRED' });
  }
}
