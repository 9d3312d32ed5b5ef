import type { Instant } from '../lib/clock.ts';
import { isAwaited, isWaived, type Judgement } from './judgement.ts';

export const CHECK_STATUSES = ['QUEUED', 'IN_PROGRESS', 'COMPLETED'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export const CHECK_CONCLUSIONS = [
  'ACTION_REQUIRED',
  'CANCELLED',
  'ERROR',
  'FAILURE',
  'NEUTRAL',
  'SKIPPED',
  'STALE',
  'SUCCESS',
  'TIMED_OUT',
] as const;
export type CheckConclusion = (typeof CHECK_CONCLUSIONS)[number];

/** The app that says it, where the forge knows: its slug, and its number as text. */
export interface Reporter {
  readonly app?: string | undefined;
  readonly appId?: string | undefined;
}

/** One CI result for a commit. */
export interface Check extends Reporter {
  readonly name: string;
  readonly status: CheckStatus;
  /** Present exactly when COMPLETED. */
  readonly conclusion: CheckConclusion | undefined;
  /** When this attempt began, where the reporter says so: the newest attempt counts. */
  readonly startedAt: Instant | undefined;
  readonly url: string | undefined;
  readonly summary: string | undefined;
  readonly reportedAt: Instant;
  /** An earlier attempt ran on the same commit, and may have left results. */
  readonly isRepeated?: true;
  /** When an attempt was first heard of that is not the first: its time for testing begins anew. */
  readonly repeatedAt?: Instant;
  /** Of a failure of this attempt, where somebody was asked whether quarantine excuses it. */
  readonly judgement?: Judgement;
}

export type CheckVerdict = 'pending' | 'passed' | 'failed' | 'inconclusive';

export function verdictOfCheck(check: Check | undefined): CheckVerdict {
  if (check?.status !== 'COMPLETED') return 'pending';
  switch (check.conclusion) {
    case 'SUCCESS':
    case 'NEUTRAL':
    case 'SKIPPED':
      return 'passed';
    case 'CANCELLED':
    case 'STALE':
      return 'inconclusive';
    case 'FAILURE':
      if (isAwaited(check)) return 'pending';
      return isWaived(check) ? 'passed' : 'failed';
    case 'ERROR':
    case 'TIMED_OUT':
    case 'ACTION_REQUIRED':
      return 'failed';
    case undefined:
      return 'pending';
  }
}

/** More names than any CI has: what somebody makes up beyond that is not kept. */
const MAX_CHECKS = 1_000;

/** A reporter whose clock is this far ahead is not believed: its attempt would be the newest for ever. */
const CLOCK_LEEWAY_MS = 5 * 60_000;

/**
 * The checks after one more report. Reports are repeated, late and out of order: what a check finally is depends only on
 * its newest attempt, and of one attempt the first COMPLETED report stands.
 */
export function withReport(checks: readonly Check[], report: Check, isRequired: boolean): readonly Check[] {
  const isAhead = (report.startedAt ?? 0) > report.reportedAt + CLOCK_LEEWAY_MS;
  const given = isAhead ? { ...report, startedAt: undefined } : report;
  const index = checks.findIndex(({ name }) => name === given.name);
  const known = checks[index];
  if (known === undefined) return isRequired || checks.length < MAX_CHECKS ? [...checks, given] : checks;
  if (!supersedes(known, given)) return checks;
  if (!isRepetition(known, given)) return checks.with(index, given);
  const repeatedAt = isOtherAttempt(known, given) ? given.reportedAt : known.repeatedAt;
  const again = repeatedAt === undefined ? {} : { repeatedAt };
  return checks.with(index, { ...given, isRepeated: true, ...again });
}

/** What only waited to run has left nothing behind. */
function isRepetition(known: Check, report: Check): boolean {
  if (known.isRepeated === true) return true;
  return isOtherAttempt(known, report) && known.status !== 'QUEUED';
}

function isOtherAttempt(known: Check, report: Check): boolean {
  return known.startedAt !== undefined && report.startedAt !== undefined && known.startedAt !== report.startedAt;
}

function supersedes(known: Check, report: Check): boolean {
  if (isOtherAttempt(known, report)) return (report.startedAt as Instant) > (known.startedAt as Instant);
  return rank(report) > rank(known);
}

function rank({ status }: Check): number {
  return CHECK_STATUSES.indexOf(status);
}
