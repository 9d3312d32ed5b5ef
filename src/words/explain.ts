import { isBehindDirectMerge } from '../engine/direct-merge.ts';
import { isPossibleRepair } from '../engine/hold.ts';
import type { BlockReason } from '../engine/pull-request.ts';
import { type Entry, findCandidate, type Hold, isAdmitted, isLive, lineLimit, type Queue } from '../engine/queue.ts';
import { readinessOf } from '../engine/readiness.ts';
import { unlanded } from '../engine/roster.ts';
import type { Instant } from '../lib/clock.ts';
import { explainEnded } from './ended.ts';
import { type Beyond, commandsOf, type Explanation, type ExplanationReason, reason } from './explanation.ts';
import { headlineOf } from './headlines.ts';
import { inFiles, listOf, listPrs } from './phrases.ts';
import { queueReasons, targetReasons } from './queue.ts';
import { orderOf, type View } from './view.ts';
import { MAX_DEPTH, reasonsOf } from './waiting.ts';

/** Explains in words why an entry is in its state. A pure function of the queue, and of facts from beyond it. */
// SPEC E12
export function explain(queue: Queue, entry: Entry, now: Instant, beyond: Beyond = {}): Explanation {
  if (!isLive(entry.state)) return explainEnded(queue, entry, beyond);
  const why = (other: Entry, depth: number) => reasonsOf({ queue, now, beyond: {}, why }, other, depth);
  const view = { queue, now, beyond, why };
  return isAdmitted(entry) ? explainAdmitted(view, entry) : explainNotReady(view, entry);
}

function explainNotReady(view: View, entry: Entry): Explanation {
  const { queue, now, beyond } = view;
  const own = entryReasons(queue, entry);
  const reasons = [...queueReasons(queue, now), ...own];
  if (reasons.length === 0) reasons.push(...waitsForRoom(queue, entry));
  const [first] = reasons;
  const needsTargets = own.some(({ code }) => code === 'IMPACTED_TARGETS_MISSING');
  return {
    headline: headlineOf(queue, entry).text,
    summary: `Pull request #${entry.prNumber} is submitted and not in the queue yet (NOT_READY).${first === undefined ? '' : ` ${first.text}`}`,
    next:
      queue.state === 'PAUSED' && own.length === 0
        ? 'It joins the queue automatically when the queue is resumed.'
        : 'It joins the queue automatically as soon as all requirements are met.',
    commands: needsTargets ? commandsOf(beyond, (place) => [`sluice pr targets ${place} ${entry.prNumber} --all`]) : [],
    reasons,
  };
}

function waitsForRoom(queue: Queue, entry: Entry): ExplanationReason[] {
  if (entry.candidate !== undefined) {
    const text = 'It is up to date and has passed its checks. Sluice lands it directly.';
    return [reason('LANDING_DIRECTLY', text, { testRun: entry.candidate })];
  }
  if (isBehindDirectMerge(queue, entry)) {
    return [reason('BEHIND_DIRECT_MERGE', 'Sluice lands a pull request that it overlaps with directly. It is next.')];
  }
  const text = `The queue is full: ${queue.index.admitted} pull requests are in it, and it holds ${lineLimit(queue)}.`;
  return [reason('LINE_FULL', text)];
}

function explainAdmitted(view: View, entry: Entry): Explanation {
  const { queue, now } = view;
  const order = orderOf(queue);
  const position = order.findIndex((other) => other.prNumber === entry.prNumber) + 1;
  // While the queue holds, a pending entry waits for nothing else.
  const isHeld = queue.hold !== undefined && entry.candidate === undefined;
  const own = isHeld ? [] : reasonsOf(view, entry, MAX_DEPTH);
  const reasons = [...queueReasons(queue, now), ...targetReasons(queue), ...own];
  const [first] = reasons;
  const headline = headlineOf(queue, entry).text;
  return {
    headline,
    summary: `Pull request #${entry.prNumber}: ${headline} (${entry.state}), number ${position} of ${order.length}.${first === undefined ? '' : ` ${first.text}`}`,
    position,
    next: nextOf(queue, entry),
    commands: [],
    reasons,
  };
}

function nextOf(queue: Queue, entry: Entry): string {
  const { branch } = queue;
  if (queue.parked !== undefined) return 'Nothing happens until an operator resumes the queue.';
  if (queue.state === 'PAUSED') return 'It goes on automatically when the queue is resumed.';
  if (queue.head === undefined) return `It is tested as soon as the branch ${branch} exists.`;
  if (queue.hold !== undefined && entry.state !== 'TESTS_PASSED') return nextWhileHeld(queue, queue.hold, entry);
  switch (entry.state) {
    case 'PENDING':
      return entry.conflictsWith === undefined
        ? 'It is tested automatically when its turn comes.'
        : `It is tried again automatically when #${entry.conflictsWith} has landed or left the queue.`;
    case 'TESTING':
      if (entry.bisection !== undefined) return nextInSearch(queue, entry);
      return `It lands automatically when all required checks have passed${after(queue, entry)}.`;
    case 'TESTS_PASSED':
      return `It lands on ${branch} automatically${after(queue, entry)}.`;
    default:
      return nextAfterFailure(queue, entry);
  }
}

function nextInSearch(queue: Queue, { bisection: number, submission }: Entry): string {
  const parts = queue.bisections.find((each) => each.number === number)?.chains.flatMap((chain) => chain.parts) ?? [];
  const part = parts.find(({ members }) => members.some((member) => member.submission === submission));
  const fails =
    part?.members.length === 1 ? 'it caused the failure and is removed' : 'the search goes on in smaller parts';
  return `If this run passes, it is cleared and lands in its turn. If this run fails, ${fails}.`;
}

/** ", after #1 and #2 have landed" */
function after(queue: Queue, entry: Entry): string {
  const ahead = beneathOf(queue, entry);
  return ahead.length === 0 ? '' : `, after ${listPrs(ahead.map(({ prNumber }) => ({ prNumber })))}`;
}

function beneathOf(queue: Queue, { candidate: number }: Entry): readonly Entry[] {
  const candidate = number === undefined ? undefined : findCandidate(queue, number);
  return candidate === undefined ? [] : unlanded(queue, candidate.beneath);
}

function nextAfterFailure(queue: Queue, entry: Entry): string {
  const open = beneathOf(queue, entry).filter(({ state }) => state !== 'TESTS_PASSED');
  if (open.length === 0) return 'If this pull request caused the failure, it is removed. Otherwise it is tested again.';
  const ahead = listPrs(open.map(({ prNumber }) => ({ prNumber })));
  const [passes, fails] = open.length === 1 ? ['passes', 'fails'] : ['all pass', 'one of them fails'];
  return open.length === 1
    ? `If ${ahead} ${passes}, this pull request caused the failure and is removed. If ${ahead} ${fails}, it is tested again without it.`
    : `If ${ahead} ${passes}, this pull request caused the failure and is removed. If ${fails}, it is tested again without that one.`;
}

function nextWhileHeld(queue: Queue, hold: Hold, entry: Entry): string {
  const { branch } = queue;
  if (hold.cause.kind === 'configuration')
    return `It is tested automatically as soon as the configuration of ${branch} is repaired.`;
  if (entry.candidate !== undefined && findCandidate(queue, entry.candidate)?.purpose.kind === 'repair') {
    return 'If it passes, it lands at once, and the queue goes on.';
  }
  const isTried = entry.repairTriedOn === queue.head?.ordinal;
  if (isPossibleRepair(hold, entry) && !isTried)
    return `It is tested alone on ${branch} as a possible repair when its turn comes, and lands if it passes.`;
  const advice = isTried ? '' : ` If it repairs ${branch}, submit it again as a repair.`;
  return `It is tested automatically once ${branch} passes or moves.${advice}`;
}

function entryReasons(queue: Queue, entry: Entry): ExplanationReason[] {
  const { hasImpactedTargets, requiresImpactedTargets, doesBaseBranchMatch, mergeability } = readinessOf(queue, entry);
  const reasons: ExplanationReason[] = [];
  if (!doesBaseBranchMatch) {
    const text = `Its base is ${entry.pr.baseBranch}, but this queue lands on ${queue.branch}.`;
    reasons.push(reason('BASE_BRANCH_MISMATCH', text));
  }
  if (mergeability === 'NOT_MERGEABLE') {
    const blocks = entry.pr.blockReasons.map((block) => reason(block.toUpperCase(), blockText(entry.pr, block)));
    const text = blocks.length === 0 ? 'It cannot be merged.' : `It cannot be merged: ${blocks[0]?.text}`;
    reasons.push({ ...reason('NOT_MERGEABLE', text), reasons: blocks });
  } else if (mergeability !== 'MERGEABLE') {
    reasons.push(reason('MERGEABILITY_PENDING', 'The forge has not said yet whether it can be merged.'));
  }
  if (requiresImpactedTargets && !hasImpactedTargets) {
    const sha = entry.pr.headSha.slice(0, 12);
    const text = `Its impacted targets for ${sha} are missing. CI uploads them. By hand: sluice pr targets, with --target NAME or --all.`;
    reasons.push(reason('IMPACTED_TARGETS_MISSING', text));
  }
  return reasons;
}

function blockText(pr: Entry['pr'], block: BlockReason): string {
  const { failingChecks = [], awaitedChecks = [], conflictFiles } = pr;
  const one = (names: readonly string[]) => (names.length === 1 ? 'a required check' : 'required checks');
  if (block === 'failingCheck' && failingChecks.length > 0)
    return `${one(failingChecks)} of its head failed: ${listOf(failingChecks)}.`;
  if (block === 'awaitingCheck' && awaitedChecks.length > 0)
    return `${one(awaitedChecks)} of its head ${awaitedChecks.length === 1 ? 'has' : 'have'} not reported yet: ${listOf(awaitedChecks)}.`;
  if (block === 'conflict')
    return `it conflicts with ${pr.baseBranch}${inFiles(conflictFiles)}. Rebase it onto ${pr.baseBranch} and push.`;
  return BLOCK_TEXTS[block];
}

const BLOCK_TEXTS: { readonly [Reason in Exclude<BlockReason, 'conflict'>]: string } & { readonly conflict?: never } = {
  behind: 'it is behind the target branch, and the forge requires it to be up to date.',
  draft: 'it is a draft.',
  closed: 'it is closed.',
  pending: 'the forge has not decided yet.',
  awaitingCheck: 'a required check of its head has not reported yet.',
  failingCheck: 'a required check of its head failed.',
  reviewRequired: 'a required review is missing.',
  changesRequested: 'a reviewer requested changes.',
  other: 'the forge gives no reason. On plain git, the target branch does not exist, or they have no commit in common.',
};
