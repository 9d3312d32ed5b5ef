import { mayBlame, removeForFailure } from '../evidence/suspicion.ts';
import { ALL_GROUPS, formGroups, hopsBehind } from '../line/batch.ts';
import { learnFailure } from '../line/learn.ts';
import { abandonBehind, behindFailedRun } from '../line/line.ts';
import { isAwaitedQuestion } from '../line/questions.ts';
import { isFailure, voucherOf } from '../line/vouch.ts';
import { type Candidate, type CandidateNumber, isRunAgain, isUnderTest } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import { findCandidate, type Queue } from '../model/queue.ts';
import { lineOf, stateUnder, unlanded } from '../model/roster.ts';
import { testingTimeout } from '../model/testing-timeout.ts';
import { move, stillLive, type Work } from '../model/work.ts';
import { searchInHalves } from './halves.ts';
import { searchCandidate } from './prefix-search.ts';

/** A failed entry is held for its successors no longer than this. */
const MAX_HOLD_MS = 60 * 60_000;

/**
 * Decides who is to blame for the failures in the line, front first. A failure is a candidate's own once everything
 * beneath it has passed. Then its one member leaves, or its members are bisected. They stay a little longer if they are
 * held for their successors (`pendingFailureDepth`), or if the head of the target branch is suspected.
 */
// SPEC V5
export function blame(work: Work): void {
  const { abandonsBehindFailure, searches } = policyOf(work.queue);
  if (abandonsBehindFailure) abandonOnFailures(work);
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    if (!isToBlame(work, candidate)) continue;
    if (!isSearched(work.queue, candidate)) remove(work, candidate);
    else if (searches === 'prefixes' || candidate.members.length === 1) searchCandidate(work, candidate);
    else searchInHalves(work, candidate);
  }
}

function isSearched(queue: Queue, { members }: Candidate): boolean {
  return members.length > 1 || policyOf(queue).confirms;
}

// SPEC V4
function isToBlame(work: Work, candidate: Candidate): boolean {
  const { queue } = work;
  if (!isFailure(queue, candidate) || isRunAgain(candidate) || candidate.isUnderReview === true) return false;
  const ahead = unlanded(queue, candidate.beneath);
  if (ahead.some(({ state }) => state !== 'TESTS_PASSED')) return false;
  if (queue.hold !== undefined || isHeld(work, candidate)) return false;
  if (policyOf(queue).searches === 'halves' && isAwaitedQuestion(queue, candidate)) return false;
  // A search is on the head, so everything its members failed on top of has to land first.
  return isSearched(queue, candidate) ? ahead.length === 0 : mayBlame(queue, candidate);
}

/** A candidate on top of a failed one would most likely fail too. */
// SPEC K7
function abandonOnFailures(work: Work): void {
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    if (!isFailure(work.queue, candidate) || isRunAgain(candidate)) continue;
    abandonBehind(work, candidate, behindFailedRun(candidate.members));
  }
}

/** If what is built on a failure is abandoned at once, it would be started again without end. */
// SPEC K7
export function isOnFailure(queue: Queue, ahead: readonly CandidateNumber[]): boolean {
  if (!policyOf(queue).abandonsBehindFailure) return false;
  return ahead.some((number) => {
    const candidate = findCandidate(queue, number);
    return candidate !== undefined && isFailure(queue, candidate) && !isRunAgain(candidate);
  });
}

/** A successor within the depth is unfinished. It may still vouch, or the author may restart the tests. */
// SPEC V6
function isHeld(work: Work, candidate: Candidate): boolean {
  const { queue } = work;
  const depth = policyOf(queue).pendingFailureDepth;
  if (depth === 0 || work.at >= holdEndsAt(queue, candidate)) return false;
  // In one line each group is a hop behind the one before it, so that the first ones are enough.
  const demand = queue.settings.mode === 'SINGLE' ? { ...ALL_GROUPS, limit: depth } : ALL_GROUPS;
  return hopsBehind(queue, candidate, formGroups(queue, work.at, demand)).some(
    ({ hops, candidate: successor }) => hops <= depth && (successor === undefined || isUnfinished(successor)),
  );
}

function isUnfinished(candidate: Candidate): boolean {
  return candidate.state === 'waiting' || isUnderTest(candidate);
}

/** A hold lasts an hour after the failure, or the testing timeout if that is shorter. */
// SPEC V6
export function holdEndsAt(queue: Queue, candidate: Candidate): number {
  const timeoutMs = testingTimeout(queue, candidate) * 60_000;
  const holdMs = timeoutMs === 0 ? MAX_HOLD_MS : Math.min(MAX_HOLD_MS, timeoutMs);
  return (candidate.failure?.at ?? 0) + holdMs;
}

function remove(work: Work, candidate: Candidate): void {
  const [entry] = unlanded(work.queue, candidate.members);
  if (entry === undefined || candidate.failure === undefined) return;
  learnFailure(work, entry, candidate.failure);
  removeForFailure(work, entry, candidate, candidate.failure);
}

/** Updates the states of entries to the passes that cover them now. */
// SPEC V29, V31
export function settleVouches(work: Work): void {
  const { queue, before } = work;
  const mayDiffer = [queue, before].some((each) => policyOf(each).canOptimisticallyMerge);
  if (!mayDiffer && queue.landing === before.landing) return;
  for (const candidate of lineOf(work.queue)) {
    if (candidate.state === 'passed') continue;
    for (const entry of unlanded(work.queue, candidate.members)) {
      const voucher = voucherOf(work.queue, entry);
      const state = voucher === undefined ? stateUnder(candidate) : 'TESTS_PASSED';
      if (entry.state === state) continue;
      if (voucher === undefined)
        move(work, entry, { ...entry.because, to: state, reason: 'SUCCESSOR_TEST_RUN_WITHDRAWN' });
      else move(work, entry, { to: state, reason: 'SUCCESSOR_TEST_RUN_PASSED', candidate: voucher });
    }
  }
}
