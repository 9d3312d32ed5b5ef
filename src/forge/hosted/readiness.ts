import { nameOf, type RequiredStatus } from '../../engine/model/check.ts';
import type { BlockReason, Mergeability, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { isReportedBy } from '../../engine/model/required.ts';
import { present } from '../../lib/present.ts';
import type { CheckReport, TargetJudgement } from '../hosting.ts';
import { hasPassed, reportOfCheck } from '../report-of-check.ts';

export interface Readiness {
  readonly mergeability: Mergeability;
  readonly blockReasons: readonly BlockReason[];
  readonly failingChecks?: readonly string[];
  readonly awaitedChecks?: readonly string[];
  /** The forge's own words for the reason `other`. */
  readonly blockDetail?: string;
}

export const READY: Readiness = { mergeability: 'MERGEABLE', blockReasons: [] };

export function notReady(...blockReasons: readonly BlockReason[]): Readiness {
  return { mergeability: 'NOT_MERGEABLE', blockReasons };
}

/** Facts of a pull request that was based on the target a moment ago. */
export function judgementIn(facts: PullRequestFacts | undefined, targetBranch: string): TargetJudgement {
  if (facts === undefined) return notReady('closed');
  if (facts.baseBranch !== targetBranch) return { mergeability: 'IN_PROGRESS', blockReasons: [] };
  const { mergeability, blockReasons, failingChecks, awaitedChecks, blockDetail } = facts;
  return { mergeability, blockReasons, failingChecks, awaitedChecks, ...present({ blockDetail }) };
}

/** A forge that finds a conflict, or has not looked for one yet, says nothing about reviews. */
export function hidesReviews({ mergeability, blockReasons }: TargetJudgement): boolean {
  return mergeability === 'IN_PROGRESS' || (blockReasons.length === 1 && blockReasons[0] === 'conflict');
}

export function alsoBlockedBy(judged: TargetJudgement, reasons: readonly BlockReason[]): TargetJudgement {
  return reasons.length === 0 ? judged : { ...judged, ...notReady(...judged.blockReasons, ...reasons) };
}

/** The state of a pull request whose open requirements are these. Undefined if there are none. */
export function blockedBy(reviews: readonly BlockReason[], checks: CheckBlock): Readiness | undefined {
  const reasons = [...reviews, ...checks.reasons];
  if (reasons.length === 0) return undefined;
  const { failing, awaited } = checks;
  return {
    ...notReady(...reasons),
    ...(failing.length > 0 && { failingChecks: failing }),
    ...(awaited.length > 0 && { awaitedChecks: awaited }),
  };
}

const MAX_NAMES = 100;
/** Only the last awaited checks are named, so that the explanation does not change with each of many. */
const MAX_AWAITED = 3;

export interface CheckBlock {
  readonly reasons: readonly BlockReason[];
  /** Filled once all checks have ended, so that the explanation does not change with each of them. */
  readonly failing: readonly string[];
  readonly awaited: readonly string[];
}

/** Judges the required checks of a head by what was reported there. */
export function judgeChecks(reports: readonly CheckReport[], required: readonly RequiredStatus[]): CheckBlock {
  const judged = required.map((status) => ({ name: nameOf(status), reason: findReason(reports, status) }));
  const reasons = judged.flatMap(({ reason }) => reason ?? []);
  const namesOf = (wanted: BlockReason) =>
    [...new Set(judged.flatMap(({ name, reason }) => (reason === wanted ? [name] : [])))].sort();
  const awaited = namesOf('awaitingCheck');
  if (!reasons.includes('failingCheck'))
    return { reasons: reasons.slice(0, 1), failing: [], awaited: awaited.length > MAX_AWAITED ? [] : awaited };
  const failing = awaited.length > 0 ? [] : namesOf('failingCheck').slice(0, MAX_NAMES);
  return { reasons: ['failingCheck'], failing, awaited: [] };
}

function findReason(reports: readonly CheckReport[], status: RequiredStatus): BlockReason | undefined {
  const app = typeof status === 'string' ? undefined : status.app;
  const report = reportOfCheck(reports, nameOf(status), app);
  if (isOwnName(nameOf(status)) && report === undefined) return undefined;
  if (report === undefined || report.conclusion === undefined) return 'awaitingCheck';
  return hasPassed(report) ? undefined : 'failingCheck';
}

/** The server's own word, which never counts. */
export function isOwn(report: CheckReport, ownLogin: string): boolean {
  return isOwnName(report.name) && isReportedBy(ownLogin, report);
}

function isOwnName(name: string): boolean {
  return /^Sluice \(.*\)$/.test(name);
}
