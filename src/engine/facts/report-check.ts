import type { Instant } from '../../lib/clock.ts';
import { judge } from '../evidence/judge.ts';
import { stopProbes } from '../line/questions.ts';
import type { Candidate, CandidateNumber } from '../model/candidate.ts';
import { type Check, withReport } from '../model/check.ts';
import type { CheckReported } from '../model/event.ts';
import { JUDGEMENT_MS } from '../model/judgement.ts';
import { policyOf } from '../model/policy.ts';
import { withAnswer } from '../model/question.ts';
import { findCandidate } from '../model/queue.ts';
import { reportDelayMs } from '../model/report-delays.ts';
import { appFor, isReportedBy } from '../model/required.ts';
import { isJudgeable } from '../model/waiver.ts';
import { APPLIED, ignored, keepCandidate, type Outcome, type Work } from '../model/work.ts';

export function report(work: Work, candidate: Candidate, { at, check }: CheckReported): Outcome {
  if (isBeforeItsRun(candidate)) return keepForLater(work, candidate, at, check);
  const isOpen = candidate.state === 'testing';
  // Running a failed check again may still clear it. A pass or a timeout is final.
  const isReopenable = candidate.state === 'failed' && candidate.failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED';
  if (!isOpen && !isReopenable) return ignored(`Candidate ${candidate.number} is ${candidate.state}.`);
  const isRequired = candidate.required?.names.includes(check.name) === true;
  const app = candidate.required && appFor(candidate.required, check.name);
  if (app !== undefined && !isReportedBy(app, check)) return ignored(notTheApp(check, app));
  if (candidate.required?.stray?.includes(check.name)) {
    stopProbes(work, check.name);
    return APPLIED;
  }
  const checks = withReport(candidate.checks, { ...check, reportedAt: at }, isRequired);
  if (checks === candidate.checks) return reportedBefore(check);
  const reported = { ...candidate, checks: askForJudgement(work, candidate, checks, check.name) };
  keepCandidate(work, reported);
  judge(work, reported);
  return APPLIED;
}

/** It is being built, or waits for the run of an equal tree or for the queue. */
export function isBeforeItsRun({ state, sameTreeAs }: Candidate): boolean {
  return state === 'waiting' || state === 'building' || (state === 'testing' && sameTreeAs !== undefined);
}

/** A report may arrive before the run begins. It counts once the required checks and their apps are known. */
// SPEC C21
function keepForLater(work: Work, candidate: Candidate, at: Instant, check: CheckReported['check']): Outcome {
  const checks = withReport(candidate.checks, { ...check, reportedAt: at }, false);
  if (checks === candidate.checks) return reportedBefore(check);
  keepCandidate(work, { ...candidate, checks });
  return APPLIED;
}

/** Counts the reports that arrived before the run, if the run has begun. */
// SPEC C32
export function countEarlyReports(work: Work, number: CandidateNumber): void {
  const begun = findCandidate(work.queue, number);
  if (begun === undefined || begun.state !== 'testing' || isBeforeItsRun(begun) || begun.checks.length === 0) return;
  keepCandidate(work, { ...begun, checks: [] });
  const isRequired = ({ name }: Check) => begun.required?.names.includes(name) === true;
  // Required checks come last, because nothing is accepted once they have decided the candidate.
  for (const { reportedAt, ...check } of begun.checks.toSorted(
    (a, b) => Number(isRequired(a)) - Number(isRequired(b)),
  )) {
    const candidate = findCandidate(work.queue, number);
    if (candidate !== undefined)
      report(work, candidate, { kind: 'check_reported', at: reportedAt, candidate: number, check });
  }
}

function reportedBefore({ name }: CheckReported['check']): Outcome {
  return ignored(`${name} was reported before.`);
}

/** Every account with write access could set a status with that name. */
function notTheApp({ name, reporter }: CheckReported['check'], required: string): string {
  return `${name} counts only when the app ${required} reports it, and this came from ${reporter ?? 'no app'}.`;
}

/**
 * Requests a judgement of the failed tests. The candidate waits for it if the check passed, or if the queue honors
 * quarantine.
 */
// SPEC V12, V14
export function askForJudgement(
  work: Work,
  candidate: Candidate,
  checks: readonly Check[],
  name: string,
): readonly Check[] {
  const mode = work.queue.settings.honorQuarantine;
  const index = checks.findIndex((check) => check.name === name);
  const check = checks[index];
  const isProbe = candidate.question !== undefined;
  if (check === undefined || !isJudgeable(candidate, check)) return isProbe ? unanswered(checks, check) : checks;
  const hasPassed = check.conclusion === 'SUCCESS';
  if (mode === 'OFF' && !hasPassed && !isProbe && !policyOf(work.queue).confirms) return checks;
  const until = work.at + JUDGEMENT_MS;
  const reportsUntil = hasPassed && !isProbe ? work.at + reportDelayMs(work.queue.reportDelays, name) : until;
  const { number } = candidate;
  const attempt = check.startedAt;
  work.effects.push({ kind: 'judge_check', candidate: number, check: name, attempt, until, reportsUntil });
  if (!hasPassed && mode !== 'ON' && !isProbe) return checks;
  return checks.with(index, { ...check, judgement: { kind: 'awaited', until } });
}

/** Only a check of a probe that passed or failed has reports that answer. */
// SPEC B25
function unanswered(checks: readonly Check[], check: Check | undefined): readonly Check[] {
  if (check?.status !== 'COMPLETED' || check.isUnconfirmed === true) return checks;
  return withAnswer(checks, {}, { check: check.name, attempt: check.startedAt }) ?? checks;
}
