import type { Instant } from '../lib/clock.ts';
import { type Candidate, openChecks } from './candidate.ts';
import type { RequiredReviewed } from './event.ts';
import { requiredChecks } from './required.ts';
import { candidatesOf } from './roster.ts';
import { passCandidate } from './test-run.ts';
import { judge } from './verdict.ts';
import { APPLIED, ignored, keepCandidate, type Outcome, type Work } from './work.ts';

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

/** The required checks of the queue changed: no candidate waits for the old ones. */
export function reviewAll(work: Work): void {
  for (const candidate of candidatesOf(work.queue)) if (candidate.state === 'testing') review(work, candidate);
}

function review(work: Work, candidate: Candidate): void {
  keepCandidate(work, { ...candidate, reviewedAt: work.at });
  work.effects.push({ kind: 'review_required', candidate: candidate.number });
}

/** When the required checks of a candidate are read again; undefined while it waits for something else. */
// SPEC C29
export function reviewDueAt(candidate: Candidate): Instant | undefined {
  const { state, sameTreeAs, testingSince, required, checks, reviewedAt } = candidate;
  if (state !== 'testing' || sameTreeAs !== undefined || testingSince === undefined) return undefined;
  // The built-in runner reports every command that it runs.
  if (required === undefined || required.commands !== '') return undefined;
  if (checks.length === 0 || checks.some(({ status }) => status !== 'COMPLETED')) return undefined;
  if (openChecks(candidate).every((name) => checks.some((check) => check.name === name))) return undefined;
  const heardAt = Math.max(...checks.map(({ reportedAt }) => reportedAt));
  return Math.max(heardAt, reviewedAt ?? 0) + REVIEW_AFTER_MS;
}

/**
 * Drops required checks that no longer exist, and judges the candidate by the rest. If the required checks cannot be
 * read, the candidate keeps the old ones.
 */
// SPEC C28
export function concludeReview(work: Work, candidate: Candidate, { sources }: RequiredReviewed): Outcome {
  const required = requiredChecks(work.queue.settings, sources, work.queue.lastPasses);
  const isOpen = candidate.state === 'testing' && candidate.required !== undefined;
  if (!isOpen) return ignored(`Candidate ${candidate.number} is ${candidate.state}.`);
  const isNeeded = (name: string) => typeof required === 'string' || required.names.includes(name);
  if (typeof required === 'string' || openChecks(candidate).every(isNeeded)) {
    return ignored(`Candidate ${candidate.number} waits for nothing that is not required any more.`);
  }
  // The tree that it waited for is tested for other checks. Pointing at itself makes it look for another equal tree.
  const waits = candidate.sameTreeAs === undefined ? {} : { sameTreeAs: candidate.number };
  const reviewed = { ...candidate, required, ...waits };
  keepCandidate(work, reviewed);
  if (required.names.length === 0) passCandidate(work, reviewed, 'nothing_required');
  else if (reviewed.sameTreeAs === undefined) judge(work, reviewed);
  return APPLIED;
}
