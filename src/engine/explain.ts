import { admittedInOrder } from './order.ts';
import type { BlockReason } from './pull-request.ts';
import { type Entry, isAdmitted, isLive, type Queue } from './queue.ts';
import { readinessOf } from './readiness.ts';

/** Why an entry is where it is, as a tree of reasons in words. */
export interface Explanation {
  readonly summary: string;
  /** From 1, among the admitted entries. */
  readonly position?: number;
  readonly next: string;
  readonly reasons: readonly ExplanationReason[];
}

export interface ExplanationReason {
  readonly code: string;
  readonly text: string;
  readonly prNumber?: number;
  readonly reasons: readonly ExplanationReason[];
}

export function explain(queue: Queue, entry: Entry): Explanation {
  if (!isLive(entry.state)) return explainEnded(entry);
  if (!isAdmitted(entry)) return explainNotReady(queue, entry);
  return explainAdmitted(queue, entry);
}

function explainEnded(entry: Entry): Explanation {
  return {
    summary: `Pull request #${entry.prNumber} left the queue: it is ${entry.state}.`,
    next: entry.state === 'MERGED' ? 'Nothing: it is on the target branch.' : 'Submit it again to queue it again.',
    reasons: [],
  };
}

function explainNotReady(queue: Queue, entry: Entry): Explanation {
  const reasons = [...queueReasons(queue), ...entryReasons(queue, entry)];
  const [first] = reasons;
  return {
    summary: `Pull request #${entry.prNumber} is submitted and waits to be admitted.${first === undefined ? '' : ` ${first.text}`}`,
    next: 'It enters the queue by itself as soon as nothing of this stands in its way.',
    reasons,
  };
}

function explainAdmitted(queue: Queue, entry: Entry): Explanation {
  const order = admittedInOrder(queue);
  const index = order.findIndex((other) => other.prNumber === entry.prNumber);
  const ahead = order[index - 1];
  return {
    summary: `Pull request #${entry.prNumber} is ${entry.state}, number ${index + 1} of ${order.length} in the queue.`,
    position: index + 1,
    next: 'It is tested together with the pull requests ahead of it as soon as a slot is free.',
    reasons: [
      ...queueReasons(queue),
      ...(ahead === undefined
        ? []
        : [reason('BEHIND', `It stands behind pull request #${ahead.prNumber}.`, ahead.prNumber)]),
    ],
  };
}

function queueReasons(queue: Queue): ExplanationReason[] {
  switch (queue.state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return [reason('QUEUE_PAUSED', 'The queue is paused: it admits, tests and lands nothing until it is resumed.')];
    case 'DRAINING':
      return [reason('QUEUE_DRAINING', 'The queue is draining: it finishes what is in it and admits nothing new.')];
    case 'SWITCHING_MODES':
      return [
        reason(
          'QUEUE_SWITCHING_MODES',
          `The queue switches to ${queue.modeSwitch?.to} mode once the pull requests in it have landed or left.`,
        ),
      ];
  }
}

function entryReasons(queue: Queue, entry: Entry): ExplanationReason[] {
  const { hasImpactedTargets, requiresImpactedTargets, doesBaseBranchMatch, mergeability } = readinessOf(queue, entry);
  const reasons: ExplanationReason[] = [];
  if (!doesBaseBranchMatch) {
    reasons.push(reason('BASE_BRANCH_MISMATCH', `Its base is ${entry.pr.baseBranch}, the queue's is ${queue.branch}.`));
  }
  if (mergeability === 'NOT_MERGEABLE') {
    const blocks = entry.pr.blockReasons.map((block) => reason(block.toUpperCase(), BLOCK_TEXTS[block]));
    const text = blocks.length === 0 ? 'It cannot be merged.' : `It cannot be merged: ${blocks[0]?.text}`;
    reasons.push({ ...reason('NOT_MERGEABLE', text), reasons: blocks });
  } else if (mergeability !== 'MERGEABLE') {
    reasons.push(reason('MERGEABILITY_PENDING', 'Whether it can be merged is still being found out.'));
  }
  if (requiresImpactedTargets && !hasImpactedTargets) {
    reasons.push(
      reason(
        'IMPACTED_TARGETS_MISSING',
        `Its impacted targets for ${entry.pr.headSha.slice(0, 12)} are not uploaded yet.`,
      ),
    );
  }
  return reasons;
}

const BLOCK_TEXTS: { readonly [Reason in BlockReason]: string } = {
  conflict: 'it conflicts with the target branch. Merge or rebase it onto the target and push.',
  behind: 'it is behind the target branch, and the forge demands that it is not.',
  draft: 'it is a draft.',
  closed: 'it is closed.',
  pending: 'the forge has not decided yet.',
  awaitingCheck: 'a required check on its head has not reported yet.',
  failingCheck: 'a required check on its head fails.',
  reviewRequired: 'a required review is missing.',
  changesRequested: 'a reviewer asked for changes.',
  other: 'the forge says so without a reason, or the target branch does not exist.',
};

function reason(code: string, text: string, prNumber?: number): ExplanationReason {
  return { code, text, reasons: [], ...(prNumber === undefined ? {} : { prNumber }) };
}
