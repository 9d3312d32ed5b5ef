import type { Instant } from '../../lib/clock.ts';
import { isBeingLanded } from '../line/line.ts';
import { concludeUnanswered, noteCost } from '../line/questions.ts';
import { failCandidate, MAX_TRIES, passCandidate, repeatCandidate, replaceCandidate } from '../line/test-run.ts';
import { type Candidate, failedChecks, openChecks, verdictOf, verdictOfRequired } from '../model/candidate.ts';
import type { Check, CheckVerdict } from '../model/check.ts';
import { isAwaited, JUDGEMENT_MS, MAX_REPETITIONS, NOT_JUDGED, NOTHING_FAILED } from '../model/judgement.ts';
import { withAnswer } from '../model/question.ts';
import type { Queue } from '../model/queue.ts';
import { candidatesOf } from '../model/roster.ts';
import { testingTimeout } from '../model/testing-timeout.ts';
import { deniedIn, excusesOf, needsHonor, withFinding, withoutWaiver } from '../model/waiver.ts';
import { keepCandidate, stillLive, type Work } from '../model/work.ts';

/** Decides a candidate from its checks. A failed candidate is decided again when its checks run again. */
// SPEC V9
export function judge(work: Work, candidate: Candidate): void {
  const verdict = verdictOf(candidate);
  if (candidate.question !== undefined) judgeProbe(work, candidate, verdict);
  else if (verdict === 'passed') passCandidate(work, candidate, 'own_run');
  else if (verdict === 'inconclusive') concludeInconclusive(work, candidate);
  else if (verdict === 'flaky') concludeFlaky(work, candidate);
  else if (verdict === 'failed' && candidate.state !== 'failed') failByChecks(work, candidate);
  // A failed candidate whose checks run again is reopened by the plan, as soon as a slot is free.
}

// SPEC B18
function judgeProbe(work: Work, probe: Candidate, verdict: CheckVerdict): void {
  if (verdict === 'pending' || (verdict === 'failed' && probe.state === 'failed')) return;
  noteCost(work, probe);
  if (verdict === 'passed') passCandidate(work, probe, 'question');
  else if (verdict === 'failed') failByChecks(work, probe);
  else concludeUnanswered(work, probe);
}

/** The checks were cut off without a result. The candidate is tried again, and fails after MAX_TRIES. */
// SPEC V3
export function concludeInconclusive(work: Work, candidate: Candidate): void {
  if (candidate.question !== undefined) {
    concludeUnanswered(work, candidate);
    return;
  }
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

/** The pass of another candidate is not what lands. */
export function mayTakeBack({ purpose, pass }: Candidate): boolean {
  return (purpose.kind === 'main' || purpose.kind === 'repair') && pass?.by === 'own_run';
}

/**
 * Reports arrived after the pass and before the landing. If they hold a failure that nothing excuses, the pass does not
 * count, also for those that took it over.
 */
// SPEC V63
export function reviewPass(work: Work, candidate: Candidate): void {
  const { pass } = candidate;
  if (pass === undefined) return;
  if (verdictOfRequired(candidate) === 'passed') {
    keepCandidate(work, { ...candidate, pass: { ...pass, ...excusesOf(candidate) } });
    return;
  }
  for (const twin of stillLive(work, candidatesOf(work.queue))) {
    const isOwn = twin.number === candidate.number || twin.pass?.provenBy !== candidate.number;
    if (isOwn || twin.purpose.kind !== 'main' || isBeingLanded(work.queue, twin)) continue;
    replaceCandidate(work, twin, inconclusive(candidate), 0);
  }
  const reopened: Candidate = { ...candidate, state: 'testing', pass: undefined };
  keepCandidate(work, reopened);
  judge(work, reopened);
}

/** A failure that was not judged in time is not waived. A pass counts. */
// SPEC V12, V58
export function denyOverdue(work: Work): void {
  for (const candidate of stillLive(work, candidatesOf(work.queue))) {
    const overdue = candidate.checks.filter((check) => awaitedUntil(check) <= work.at);
    if (overdue.length === 0) continue;
    let { checks } = candidate;
    for (const { name, startedAt, conclusion } of overdue) {
      const of = { check: name, attempt: startedAt, at: work.at, mode: work.queue.settings.honorQuarantine };
      const found = conclusion === 'SUCCESS' ? NOTHING_FAILED : NOT_JUDGED;
      const isProbe = candidate.question !== undefined;
      checks = (isProbe ? withAnswer(checks, {}, of) : withFinding(checks, found, of)) ?? checks;
    }
    const judged = { ...candidate, checks };
    keepCandidate(work, judged);
    if (candidate.state === 'testing' || candidate.state === 'failed') judge(work, judged);
  }
}

/** The reports of a failed check were not read in time. It has failed in no known test. */
// SPEC V68
export function readOverdue(work: Work): void {
  for (const candidate of stillLive(work, candidatesOf(work.queue))) {
    const isOverdue = (check: Check) => readUntil(check) <= work.at;
    if (!candidate.checks.some(isOverdue)) continue;
    const checks = candidate.checks.map((check) => (isOverdue(check) ? { ...check, signature: [] } : check));
    keepCandidate(work, { ...candidate, checks });
  }
}

/** Infinity for a check whose failed tests are known, or are not asked for. */
export function readUntil({ status, conclusion, signature, reportedAt }: Check): Instant {
  const isAsked = status === 'COMPLETED' && conclusion === 'FAILURE' && signature === undefined;
  return isAsked ? reportedAt + JUDGEMENT_MS : Number.POSITIVE_INFINITY;
}

/** The queue stopped honoring quarantine: open candidates lose their waivers. Candidates that passed keep them. */
// SPEC V45
export function takeBackWaivers(work: Work): void {
  if (work.queue.settings.honorQuarantine === 'ON') return;
  for (const candidate of stillLive(work, candidatesOf(work.queue))) {
    const isOpen = candidate.state === 'testing' || candidate.state === 'failed';
    if (!isOpen || !candidate.checks.some(needsHonor)) continue;
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
export function testingEndsAt(queue: Queue, candidate: Candidate): Instant | undefined {
  const { state, testingSince } = candidate;
  if (state !== 'testing' || testingSince === undefined) return undefined;
  const limitMs = testingTimeout(queue, candidate) * 60_000;
  if (limitMs === 0) return undefined;
  return isJudging(candidate) ? undefined : clockOf(candidate, testingSince) + limitMs;
}

/** A check that runs again gets the full timeout again, so the oldest open check counts. */
// SPEC V23
function clockOf(candidate: Candidate, testingSince: Instant): Instant {
  if (candidate.checks.every(({ repeatedAt }) => repeatedAt === undefined)) return testingSince;
  const open = openChecks(candidate);
  const clocks = open.map((name) => candidate.checks.find((check) => check.name === name)?.repeatedAt ?? testingSince);
  return clocks.length === 0 ? testingSince : Math.min(...clocks);
}

/** All checks have reported, and only judgements are open. Those end within a minute and are not CI's fault. */
function isJudging(candidate: Candidate): boolean {
  const open = openChecks(candidate);
  const awaited = candidate.checks.filter((check) => isAwaited(check) && open.includes(check.name));
  return awaited.length > 0 && awaited.length === open.length;
}

// SPEC V23
export function failOverdue(work: Work): void {
  for (const candidate of stillLive(work, candidatesOf(work.queue))) {
    const endsAt = testingEndsAt(work.queue, candidate);
    if (endsAt === undefined || work.at < endsAt) continue;
    if (candidate.question !== undefined) {
      noteCost(work, candidate);
      concludeUnanswered(work, candidate);
      continue;
    }
    const checks = openChecks(candidate);
    const isBegun = candidate.checks.some(({ name }) => checks.includes(name));
    const automatic = work.queue.settings.testingTimeoutMinutes === null ? ({ isAutomatic: true } as const) : {};
    const timeout = { minutes: testingTimeout(work.queue, candidate), isBegun, ...automatic };
    failCandidate(work, candidate, { reason: 'TEST_RUN_TIMEOUT', checks, timeout });
  }
}
