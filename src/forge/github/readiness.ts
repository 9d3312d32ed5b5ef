import type { BlockReason } from '../../engine/model/pull-request.ts';
import {
  blockedBy,
  type CheckBlock,
  isOwn,
  judgeChecks,
  notReady,
  READY,
  type Readiness,
} from '../hosted/readiness.ts';
import { type Contexts, reportOf, reportsOf } from './checks.ts';
import type { BranchRules } from './protection.ts';
import type { PullRequestNode, ReviewThreads } from './pull-request-text.ts';

/** The known reasons behind GitHub's BLOCKED. */
export interface Block extends Contexts {
  readonly hasOpenThreads: boolean;
  readonly isUpToDate: boolean;
  /** Identifies the server's own check runs, which never count. */
  readonly ownLogin: string;
  /** Undefined until they were read. */
  readonly rules: BranchRules | undefined;
}

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
 * GitHub names no reason. A rule that restricts updates is the way to reserve a target branch for the queue, and reads
 * BLOCKED even for an actor that may bypass it. So a pull request without another open requirement counts as mergeable,
 * unless a rule is in force that cannot be judged here.
 */
// SPEC G11, G119
export function readinessOfBlocked(pr: PullRequestNode, block: Block): Readiness {
  const open = blockedBy(reviewReasons(pr), judgeContexts(block));
  if (open !== undefined) return open;
  const { rules } = block;
  if (rules?.isStrict === true && !block.isUpToDate) return notReady('behind');
  if (rules === undefined || !rules.restrictsUpdates || !rules.isJudgeable) return notReady('other');
  if (rules.needsResolvedThreads && block.hasOpenThreads) return notReady('other');
  // A required check may be on an unread page.
  return block.isWhole ? READY : notReady('awaitingCheck');
}

/** An author can push another person's open thread off the first page. So one beyond it counts as open. */
export function hasOpenThread({ totalCount, nodes }: ReviewThreads): boolean {
  const resolved = (nodes ?? []).filter((thread) => thread?.isResolved === true);
  return resolved.length < totalCount;
}

export function reviewReasons({ reviewDecision }: Pick<PullRequestNode, 'reviewDecision'>): readonly BlockReason[] {
  if (reviewDecision === 'CHANGES_REQUESTED') return ['changesRequested'];
  return reviewDecision === 'REVIEW_REQUIRED' ? ['reviewRequired'] : [];
}

function judgeContexts({ contexts, ownLogin, rules }: Block): CheckBlock {
  const others = contexts.filter((context) => !isOwn(reportOf(context), ownLogin));
  const reports = reportsOf(others);
  const marked = others.filter(({ isRequired }) => isRequired === true).map((context) => reportOf(context).name);
  const required = rules?.checks ?? [];
  // A required check that was never reported is not among the contexts.
  return judgeChecks(reports, [...new Set([...required, ...marked])]);
}
