import type { Instant } from '../../lib/clock.ts';
import { judge } from '../evidence/judge.ts';
import { passCandidate } from '../line/test-run.ts';
import { type Candidate, openChecks } from '../model/candidate.ts';
import type { RequiredReviewed } from '../model/event.ts';
import { isFailFast, requiredChecks } from '../model/required.ts';
import { candidatesOf } from '../model/roster.ts';
import { APPLIED, ignored, keepCandidate, type Outcome, type Work } from '../model/work.ts';
import { askForJudgement } from './report-check.ts';

/**
 * A required check that was renamed never reports under its old name. So the required checks of a candidate are read
 * again when CI has completed everything else and was silent for a while, and when the queue's setting changes.
 */
const REVIEW_AFTER_MS = 10 * 60_000;

export function reviewUnheard(work: Work): void {
  for (const candidate of candidatesOf(work.queue)) {
    const dueAt = reviewDueAt(candidate);
    if (dueAt !== undefined && work.at >= dueAt) review(work, candidate);
  }
}

/** The required checks of the queue changed: no candidate waits for the old ones, or fails by them. */
// SPEC C28
export function reviewAll(work: Work): void {
  for (const candidate of candidatesOf(work.queue)) if (isReviewable(candidate)) review(work, candidate);
}

/** A probe reports under names that nobody requires. */
function isReviewable({ state, failure, question }: Candidate): boolean {
  if (question !== undefined) return false;
  return state === 'testing' || (state === 'failed' && failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED');
}

function review(work: Work, candidate: Candidate): void {
  keepCandidate(work, { ...candidate, reviewedAt: work.at, isUnderReview: true });
  work.effects.push({ kind: 'review_required', candidate: candidate.number });
}

/** When the required checks of a candidate are read again; undefined while it waits for something else. */
// SPEC C29
export function reviewDueAt(candidate: Candidate): Instant | undefined {
  const { state, sameTreeAs, testingSince, required, checks, reviewedAt, question } = candidate;
  if (question !== undefined || state !== 'testing' || sameTreeAs !== undefined || testingSince === undefined)
    return undefined;
  // The built-in runner reports every command that it runs.
  if (required === undefined || required.commands !== '') return undefined;
  if (checks.length === 0 || checks.some(({ status }) => status !== 'COMPLETED')) return undefined;
  if (openChecks(candidate).every((name) => checks.some((check) => check.name === name))) return undefined;
  const heardAt = Math.max(...checks.map(({ reportedAt }) => reportedAt));
  return Math.max(heardAt, reviewedAt ?? 0) + REVIEW_AFTER_MS;
}

/**
 * Drops required checks that no longer exist, and judges the candidate by the rest, also one that they failed. If the required checks cannot be
 * read, the candidate keeps the old ones.
 */
// SPEC C28, V85
export function concludeReview(work: Work, candidate: Candidate, { sources }: RequiredReviewed): Outcome {
  if (sources === undefined) return leaveAsItIs(work, candidate, 'What is required cannot be read.');
  const required = requiredChecks(work.queue.settings, sources, work.queue.lastPasses);
  if (!isReviewable(candidate) || candidate.required === undefined)
    return leaveAsItIs(work, candidate, `Candidate ${candidate.number} is ${candidate.state}.`);
  const isNeeded = (name: string) =>
    typeof required === 'string' || required.names.includes(name) || isFailFast(required, name);
  const decisive = candidate.failure?.checks ?? openChecks(candidate);
  if (typeof required === 'string' || decisive.every(isNeeded)) {
    const why = `Candidate ${candidate.number} waits for nothing that is not required any more.`;
    return leaveAsItIs(work, candidate, why);
  }
  // The tree that it waited for is tested for other checks. Pointing at itself makes it look for another equal tree.
  const waits = candidate.sameTreeAs && candidate.number;
  const { isUnderReview: _, ...known } = candidate;
  const present = { ...known, required, sameTreeAs: waits };
  // A check that is required only now was not judged when it was reported.
  const added = new Set(required.names).difference(new Set(candidate.required.names));
  const checks = [...added].reduce((all, name) => askForJudgement(work, present, all, name), known.checks);
  const reviewed = { ...present, checks };
  keepCandidate(work, reviewed);
  if (required.names.length === 0) passCandidate(work, reviewed, 'nothing_required');
  else if (reviewed.sameTreeAs === undefined) judge(work, reviewed);
  return APPLIED;
}

function leaveAsItIs(work: Work, { isUnderReview, ...candidate }: Candidate, why: string): Outcome {
  if (isUnderReview !== true) return ignored(why);
  keepCandidate(work, candidate);
  return APPLIED;
}
