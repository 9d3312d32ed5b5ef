import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { type Answer, isAwaited, type Judgement, rulingOf } from './judgement.ts';
import type { Signature } from './signature.ts';

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

/** The app or account that reports a check, by its name and its id. Plain git knows none. */
export interface Reporter {
  readonly reporter?: string | undefined;
  readonly reporterId?: string | undefined;
}

export interface Check extends Reporter {
  readonly name: string;
  readonly status: CheckStatus;
  /** Present exactly if the status is COMPLETED. */
  readonly conclusion: CheckConclusion | undefined;
  /** When this attempt began, if the reporter says so. The newest attempt counts. */
  readonly startedAt: Instant | undefined;
  readonly url: string | undefined;
  readonly summary: string | undefined;
  readonly reportedAt: Instant;
  /** An earlier attempt ran on the same commit and may have uploaded test results. */
  readonly isRepeated?: true;
  /** When a second or later attempt was first reported. The testing timeout starts again then. */
  readonly repeatedAt?: Instant;
  /** The judgement of the failed tests of this attempt. Absent if no judgement was asked for, or none failed. */
  readonly judgement?: Judgement;
  /** The repository has uploads, so that reports may tell of failed tests though the check passed. */
  readonly hasUploads?: true;
  /** Absent until the reports of the failed check were read, or it is too late for that. */
  readonly signature?: Signature;
  /** Of a failed check: every test of the last landed pass ran. */
  readonly isWhole?: true;
  /** The answer of the reports of a probe. */
  readonly answer?: Answer;
  /** Its reports came and hold no failed test: something before the tests failed. */
  readonly isBuild?: true;
  /** How long after the result its reports were there. */
  readonly reportsAfterMs?: number;
  /** A webhook said so, and the forge has not been asked. It is shown, but decides nothing. */
  readonly isUnconfirmed?: true;
}

/** flaky: the candidate has to be repeated before the check counts. */
export type CheckVerdict = 'pending' | 'passed' | 'failed' | 'inconclusive' | 'flaky';

// SPEC V22, G173
export function verdictOfCheck(check: Check | undefined): CheckVerdict {
  if (check?.status !== 'COMPLETED' || check.isUnconfirmed === true) return 'pending';
  if (check.answer !== undefined) return check.answer === 'none' ? 'inconclusive' : check.answer;
  const ruling = rulingOf(check);
  if (ruling?.isRepeat) return 'flaky';
  switch (check.conclusion) {
    case 'SUCCESS':
      if (isAwaited(check)) return 'pending';
      return ruling?.isWaived === false ? 'failed' : 'passed';
    case 'NEUTRAL':
    case 'SKIPPED':
      return 'passed';
    case 'CANCELLED':
    case 'STALE':
      return 'inconclusive';
    case 'FAILURE':
      if (isAwaited(check)) return 'pending';
      return ruling?.isWaived ? 'passed' : 'failed';
    case 'ERROR':
    case 'TIMED_OUT':
    case 'ACTION_REQUIRED':
      return 'failed';
    case undefined:
      return 'pending';
  }
}

/** No CI has this many checks. Further names are dropped, so a reporter cannot grow the candidate without end. */
const MAX_CHECKS = 1_000;

/**
 * A start that is further ahead of the server's clock is dropped. Otherwise this attempt would stay the newest for
 * ever.
 */
const CLOCK_LEEWAY_MS = 5 * 60_000;

/**
 * Adds a report to the checks. Reports arrive repeated, late and out of order. The final state of a check depends on
 * its newest attempt only, and the first COMPLETED report of an attempt wins.
 */
// SPEC V24
export function withReport(checks: readonly Check[], report: Check, isRequired: boolean): readonly Check[] {
  const isAhead = (report.startedAt ?? 0) > report.reportedAt + CLOCK_LEEWAY_MS;
  const given = isAhead ? { ...report, startedAt: undefined } : report;
  const index = checks.findIndex(({ name }) => name === given.name);
  const known = checks[index];
  if (known === undefined) return isRequired || checks.length < MAX_CHECKS ? [...checks, given] : checks;
  if (!supersedes(known, given)) return checks;
  if (!isRepetition(known, given)) return checks.with(index, given);
  const repeatedAt = isOtherAttempt(known, given) ? given.reportedAt : known.repeatedAt;
  return checks.with(index, { ...given, isRepeated: true, ...present({ repeatedAt }) });
}

/** An attempt that never left the queue of CI has uploaded no results. */
function isRepetition(known: Check, report: Check): boolean {
  if (known.isRepeated === true) return true;
  return isOtherAttempt(known, report) && known.status !== 'QUEUED';
}

/** The start of an unconfirmed attempt has whole seconds. */
function isOtherAttempt(known: Check, report: Check): boolean {
  if (known.startedAt === undefined || report.startedAt === undefined) return false;
  const apartMs = Math.abs(known.startedAt - report.startedAt);
  return apartMs >= (known.isUnconfirmed === true ? 1_000 : 1);
}

// SPEC V2
function supersedes(known: Check, report: Check): boolean {
  if (isOtherAttempt(known, report)) return (report.startedAt as Instant) > (known.startedAt as Instant);
  return rank(report) > rank(known);
}

/** Each status twice: unconfirmed, and confirmed. */
function rank({ status, isUnconfirmed }: Check): number {
  return 2 * CHECK_STATUSES.indexOf(status) + (isUnconfirmed === true ? 0 : 1);
}

/** The name of a check. With `app`, only reports of that app or account count; it is a name or an id. */
export type RequiredStatus = string | { readonly name: string; readonly app: string };

export function nameOf(status: RequiredStatus): string {
  return typeof status === 'string' ? status : status.name;
}
