import type { Instant } from '../lib/clock.ts';
import { ALL_GROUPS, formGroups, hopsBehind } from './batch.ts';
import {
  type Candidate,
  type CandidateNumber,
  failedChecks,
  isRunAgain,
  isUnderTest,
  openChecks,
  verdictOf,
} from './candidate.ts';
import type { Check } from './check.ts';
import { searchInHalves } from './halves.ts';
import { isAwaited, MAX_REPETITIONS, NOT_JUDGED, NOTHING_FAILED } from './judgement.ts';
import { learnFailure } from './learn.ts';
import { abandonBehind, behindFailedRun } from './line.ts';
import { policyOf } from './policy.ts';
import { searchCandidate } from './prefix-search.ts';
import { findCandidate, type Queue } from './queue.ts';
import { removeEntry } from './remove-entry.ts';
import { candidatesOf, lineOf, unlanded } from './roster.ts';
import { mayBlame, noteFailure } from './suspicion.ts';
import { failCandidate, MAX_TRIES, passCandidate, repeatCandidate, replaceCandidate } from './test-run.ts';
import { voucherOf } from './vouch.ts';
import { deniedIn, needsHonor, withFinding, withoutWaiver } from './waiver.ts';
import { keepCandidate, type Work } from './work.ts';

/** A failed entry is held for its successors no longer than this. */
const MAX_HOLD_MS = 60 * 60_000;

/** Decides a candidate from its checks. A failed candidate is decided again when its checks run again. */
// SPEC V9
export function judge(work: Work, candidate: Candidate): void {
  const verdict = verdictOf(candidate);
  if (verdict === 'passed') passCandidate(work, candidate, 'own_run');
  else if (verdict === 'inconclusive') concludeInconclusive(work, candidate);
  else if (verdict === 'flaky') concludeFlaky(work, candidate);
  else if (verdict === 'failed' && candidate.state !== 'failed') failByChecks(work, candidate);
  // A failed candidate whose checks run again is reopened by the plan, as soon as a slot is free.
}

/** The checks were cut off without a result. The candidate is tried again, and fails after MAX_TRIES. */
// SPEC V3
export function concludeInconclusive(work: Work, candidate: Candidate): void {
  if (candidate.tries >= MAX_TRIES) {
    if (candidate.state !== 'failed') failByChecks(work, candidate);
    return;
  }
  replaceCandidate(work, candidate, inconclusive(candidate), candidate.tries + 1);
}

/** Only tests failed that are quarantined automatically. The candidate is repeated, and fails after MAX_REPETITIONS. */
function concludeFlaky(work: Work, candidate: Candidate): void {
  if ((candidate.repeats?.length ?? 0) < MAX_REPETITIONS) repeatCandidate(work, candidate);
  else if (candidate.state !== 'failed') failByChecks(work, candidate);
}

function inconclusive({ number }: Candidate) {
  return { reason: 'TEST_RUN_INCONCLUSIVE' as const, candidate: number };
}

function failByChecks(work: Work, candidate: Candidate): void {
  const checks = failedChecks(candidate);
  const denied = deniedIn(candidate, checks);
  const more = denied.length === 0 ? {} : { denied };
  failCandidate(work, candidate, { reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', checks, ...more });
}

/** A failure that was not judged in time is not waived. A pass counts. */
// SPEC V12, V58
export function denyOverdue(work: Work): void {
  for (const { number } of candidatesOf(work.queue)) {
    const candidate = findCandidate(work.queue, number);
    const overdue = candidate?.checks.filter((check) => awaitedUntil(check) <= work.at) ?? [];
    if (candidate === undefined || overdue.length === 0) continue;
    let { checks } = candidate;
    for (const { name, startedAt, conclusion } of overdue) {
      const of = { check: name, attempt: startedAt, at: work.at, mode: work.queue.settings.honorQuarantine };
      checks = withFinding(checks, conclusion === 'SUCCESS' ? NOTHING_FAILED : NOT_JUDGED, of) ?? checks;
    }
    const judged = { ...candidate, checks };
    keepCandidate(work, judged);
    if (candidate.state === 'testing' || candidate.state === 'failed') judge(work, judged);
  }
}

/** The queue stopped honoring quarantine: open candidates lose their waivers. Candidates that passed keep them. */
// SPEC V45
export function takeBackWaivers(work: Work): void {
  if (work.queue.settings.honorQuarantine === 'ON') return;
  for (const { number } of candidatesOf(work.queue)) {
    const candidate = findCandidate(work.queue, number);
    const isOpen = candidate?.state === 'testing' || candidate?.state === 'failed';
    if (candidate === undefined || !isOpen || !candidate.checks.some(needsHonor)) continue;
    const judged = { ...candidate, checks: candidate.checks.map(withoutWaiver) };
    keepCandidate(work, judged);
    judge(work, judged);
  }
}

/** Infinity for a check that is not being judged. */
export function awaitedUntil({ judgement }: Check): Instant {
  return judgement?.kind === 'awaited' ? judgement.until : Number.POSITIVE_INFINITY;
}

/** When the candidate times out; undefined if it cannot time out now. */
export function testingEndsAt({ settings }: Queue, candidate: Candidate): Instant | undefined {
  const limitMs = settings.testingTimeoutMinutes * 60_000;
  const { state, testingSince } = candidate;
  if (limitMs === 0 || state !== 'testing' || testingSince === undefined) return undefined;
  return isJudging(candidate) ? undefined : clockOf(candidate, testingSince) + limitMs;
}

/** A check that runs again gets the full timeout again, so the oldest open check counts. */
// SPEC V23
function clockOf(candidate: Candidate, testingSince: Instant): Instant {
  const open = openChecks(candidate);
  const clocks = open.map((name) => candidate.checks.find((check) => check.name === name)?.repeatedAt ?? testingSince);
  return clocks.length === 0 ? testingSince : Math.min(...clocks);
}

/** All checks have reported, and only judgements are open. Those end within a minute and are not CI's fault. */
function isJudging(candidate: Candidate): boolean {
  const awaited = candidate.checks.filter(isAwaited);
  return awaited.length > 0 && awaited.length === openChecks(candidate).length;
}

// SPEC V23
export function failOverdue(work: Work): void {
  for (const candidate of candidatesOf(work.queue)) {
    const endsAt = testingEndsAt(work.queue, candidate);
    if (endsAt === undefined || work.at < endsAt) continue;
    const checks = openChecks(candidate);
    const isBegun = candidate.checks.some(({ name }) => checks.includes(name));
    const timeout = { minutes: work.queue.settings.testingTimeoutMinutes, isBegun };
    failCandidate(work, candidate, { reason: 'TEST_RUN_TIMEOUT', checks, timeout });
  }
}

/**
 * Decides who is to blame for the failures in the line, front first. A failure is a candidate's own once everything
 * beneath it has passed. Then its one member leaves, or its members are bisected. They stay a little longer if they are
 * held for their successors (`pendingFailureDepth`), or if the head of the target branch is suspected.
 */
// SPEC V5
export function blame(work: Work): void {
  const { abandonsBehindFailure, searches } = policyOf(work.queue);
  if (abandonsBehindFailure) abandonOnFailures(work);
  for (const { number } of lineOf(work.queue)) {
    const candidate = findCandidate(work.queue, number);
    if (candidate === undefined || !isToBlame(work, candidate)) continue;
    if (!isSearched(work.queue, candidate)) remove(work, candidate);
    else if (searches === 'prefixes') searchCandidate(work, candidate);
    else searchInHalves(work, candidate);
  }
}

function isSearched(queue: Queue, { members }: Candidate): boolean {
  return members.length > 1 || policyOf(queue).searchesSingles;
}

// SPEC V4
function isToBlame(work: Work, candidate: Candidate): boolean {
  const { queue } = work;
  if (!isFailure(queue, candidate) || isRunAgain(candidate) || candidate.isUnderReview === true) return false;
  const ahead = unlanded(queue, candidate.beneath);
  if (ahead.some(({ state }) => state !== 'TESTS_PASSED')) return false;
  if (queue.hold !== undefined || isHeld(work, candidate)) return false;
  // A search is on the head, so everything its members failed on top of has to land first.
  return isSearched(queue, candidate) ? ahead.length === 0 : mayBlame(queue, candidate);
}

/** A candidate on top of a failed one would most likely fail too. */
// SPEC K7
function abandonOnFailures(work: Work): void {
  for (const { number } of lineOf(work.queue)) {
    const candidate = findCandidate(work.queue, number);
    if (candidate === undefined || !isFailure(work.queue, candidate) || isRunAgain(candidate)) continue;
    abandonBehind(work, candidate, behindFailedRun(candidate.members));
  }
}

/** It failed, and no passed successor vouches for it. */
export function isFailure(queue: Queue, candidate: Candidate): boolean {
  return (
    candidate.state === 'failed' && unlanded(queue, candidate.members).some((e) => voucherOf(queue, e) === undefined)
  );
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
  const timeoutMs = queue.settings.testingTimeoutMinutes * 60_000;
  const holdMs = timeoutMs === 0 ? MAX_HOLD_MS : Math.min(MAX_HOLD_MS, timeoutMs);
  return (candidate.failure?.at ?? 0) + holdMs;
}

function remove(work: Work, candidate: Candidate): void {
  const [entry] = unlanded(work.queue, candidate.members);
  if (entry === undefined || candidate.failure === undefined) return;
  const { at: _at, ...failure } = candidate.failure;
  noteFailure(work, entry, candidate, candidate.failure);
  learnFailure(work, entry, candidate.failure);
  removeEntry(work, entry, { to: 'FAILED', ...failure, candidate: candidate.number });
}
