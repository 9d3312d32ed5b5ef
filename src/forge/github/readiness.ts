import { nameOf, type RequiredStatus } from '../../engine/check.ts';
import type { BlockReason, Mergeability } from '../../engine/pull-request.ts';
import { isReportedBy } from '../../engine/required.ts';
import type { CheckReport } from '../hosting.ts';
import { reportOfCheck } from '../report-of-check.ts';
import { type Contexts, hasPassed, reportOf, reportsOf } from './checks.ts';
import type { BranchRules } from './protection.ts';
import type { PullRequestNode, ReviewThreads } from './pull-request-text.ts';

export interface Readiness {
  readonly mergeability: Mergeability;
  readonly blockReasons: readonly BlockReason[];
  readonly failingChecks?: readonly string[];
  readonly awaitedChecks?: readonly string[];
}

/** The known reasons behind GitHub's BLOCKED. */
export interface Block extends Contexts {
  readonly hasOpenThreads: boolean;
  readonly isUpToDate: boolean;
  /** Identifies the server's own check runs, which never count. */
  readonly ownLogin: string;
  /** Undefined until they were read. */
  readonly rules: BranchRules | undefined;
}

const READY: Readiness = { mergeability: 'MERGEABLE', blockReasons: [] };

/** Undefined for BLOCKED. `readinessOfBlocked` then finds the reasons. */
// SPEC G10
export function readinessOf(pr: PullRequestNode): Readiness | undefined {
  if (pr.state !== 'OPEN') return notReady('closed');
  const isConflicting = pr.mergeable === 'CONFLICTING' || pr.mergeStateStatus === 'DIRTY';
  const conflict = isConflicting ? (['conflict'] as const) : [];
  if (pr.isDraft || pr.mergeStateStatus === 'DRAFT') return notReady('draft', ...conflict);
  if (isConflicting) return notReady('conflict');
  if (pr.mergeable === 'UNKNOWN') return { mergeability: 'IN_PROGRESS', blockReasons: [] };
  switch (pr.mergeStateStatus) {
    case 'CLEAN':
    case 'HAS_HOOKS':
    case 'UNSTABLE':
      return READY;
    case 'BEHIND':
      return notReady('behind');
    case 'BLOCKED':
      return undefined;
    default:
      return { mergeability: 'IN_PROGRESS', blockReasons: [] };
  }
}

/**
 * GitHub computes BLOCKED for the requester and names no reason. A rule that restricts updates blocks every pull
 * request for all but exempt actors, and an actor that may bypass it still reads BLOCKED. Such a rule is the way to
 * reserve a target branch for the queue. So a pull request without another open requirement counts as mergeable, unless
 * a rule is in force that cannot be judged here.
 */
// SPEC G11, G119
export function readinessOfBlocked(pr: PullRequestNode, block: Block): Readiness {
  const checks = judgeChecks(block);
  const reasons = [...reviewReasons(pr), ...checks.reasons];
  const { failing, awaited } = checks;
  const names = {
    ...(failing.length > 0 && { failingChecks: failing }),
    ...(awaited.length > 0 && { awaitedChecks: awaited }),
  };
  if (reasons.length > 0) return { ...notReady(...reasons), ...names };
  const { rules } = block;
  if (rules?.isStrict === true && !block.isUpToDate) return notReady('behind');
  if (rules === undefined || !rules.restrictsUpdates || !rules.isJudgeable) return notReady('other');
  if (rules.needsResolvedThreads && block.hasOpenThreads) return notReady('other');
  // A required check may be on an unread page.
  return block.isWhole ? READY : notReady('awaitingCheck');
}

/**
 * An author can open and resolve enough threads to push another person's thread off the first page. So a thread beyond
 * that page counts as open.
 */
export function hasOpenThread({ totalCount, nodes }: ReviewThreads): boolean {
  const resolved = (nodes ?? []).filter((thread) => thread?.isResolved === true);
  return resolved.length < totalCount;
}

function reviewReasons({ reviewDecision }: PullRequestNode): readonly BlockReason[] {
  if (reviewDecision === 'CHANGES_REQUESTED') return ['changesRequested'];
  return reviewDecision === 'REVIEW_REQUIRED' ? ['reviewRequired'] : [];
}

const MAX_NAMES = 100;
/** Only the last awaited checks are named, so that the explanation does not change with each of many. */
const MAX_AWAITED = 3;

interface CheckBlock {
  readonly reasons: readonly BlockReason[];
  /** Filled once all checks have ended, so that the explanation does not change with each of them. */
  readonly failing: readonly string[];
  readonly awaited: readonly string[];
}

function judgeChecks({ contexts, ownLogin, rules }: Block): CheckBlock {
  const others = contexts.filter((context) => !isOwn(reportOf(context), ownLogin));
  const reports = reportsOf(others);
  const marked = others.filter(({ isRequired }) => isRequired === true).map((context) => reportOf(context).name);
  const required = rules?.checks ?? [];
  // A required check that was never reported is not among the contexts.
  const judged = [...new Set([...required, ...marked])].map((status) => ({
    name: nameOf(status),
    reason: findReason(reports, status),
  }));
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

function isOwn(report: CheckReport, ownLogin: string): boolean {
  return isOwnName(report.name) && isReportedBy(ownLogin, report);
}

function isOwnName(name: string): boolean {
  return /^Sluice \(.*\)$/.test(name);
}

function notReady(...blockReasons: readonly BlockReason[]): Readiness {
  return { mergeability: 'NOT_MERGEABLE', blockReasons };
}
