import { isPossibleRepair } from '../engine/evidence/hold.ts';
import { isSuspected } from '../engine/evidence/suspicion.ts';
import { countOf, isOverLimit } from '../engine/line/actor-limit.ts';
import { isBehindDirectMerge } from '../engine/line/direct-merge.ts';
import { findSearch } from '../engine/line/marks.ts';
import { lineLimit } from '../engine/line/slots.ts';
import type { FrozenTime } from '../engine/model/freeze.ts';
import { searchNumberOf } from '../engine/model/place.ts';
import type { BlockReason } from '../engine/model/pull-request.ts';
import { type Entry, findEntry, type Hold, isAdmitted, isLive, ownRunOf, type Queue } from '../engine/model/queue.ts';
import { readinessOf } from '../engine/model/readiness.ts';
import { freezeOf, unlanded } from '../engine/model/roster.ts';
import { missingBelow } from '../engine/model/stack.ts';
import { holdEndsAt } from '../engine/search/verdict.ts';
import type { Instant } from '../lib/clock.ts';
import { explainEnded } from './ended.ts';
import { type Beyond, commandsOf, type Explanation, type ExplanationReason, reason } from './explanation.ts';
import { headlineOf } from './headlines.ts';
import { flakeReasons } from './new-flakes.ts';
import { capitalize, inFiles, listOf, listPrs, timeOf } from './phrases.ts';
import { freezeReason, queueReasons, targetReasons } from './queue.ts';
import { nextInPrefixes, searchOf } from './search.ts';
import { partWith } from './testing.ts';
import { orderOf, type View } from './view.ts';
import { MAX_DEPTH, reasonsOf } from './waiting.ts';

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
    next: nextBeforeQueue(queue, entry, reasons),
    commands: needsTargets ? commandsOf(beyond, (place) => [`sluice pr targets ${place} ${entry.prNumber} --all`]) : [],
    reasons,
  };
}

// SPEC E33
function nextBeforeQueue(queue: Queue, entry: Entry, reasons: readonly ExplanationReason[]): string {
  const codes = reasons.map(({ code }) => code);
  if (codes.includes('LANDING_DIRECTLY')) return `It lands on ${queue.branch} automatically.`;
  const advice = adviceFor(queue, entry, codes);
  const when =
    queue.state === 'RUNNING'
      ? (codes.includes('LINE_FULL') && ' when there is room') ||
        (codes.includes('ACTOR_LIMIT') && ' when one of these leaves') ||
        (advice.length === 0 ? ' as soon as nothing is missing' : '')
      : ` when ${UNTIL[queue.state]}`;
  return [...advice, `It ${advice.length > 0 ? 'then ' : ''}joins the queue automatically${when}.`].join(' ');
}

const UNTIL = {
  PAUSED: 'the queue is resumed',
  DRAINING: 'the queue admits pull requests again',
  SWITCHING_MODES: 'the queue has switched modes',
} as const;

function adviceFor(queue: Queue, entry: Entry, codes: readonly string[]): string[] {
  const { branch } = queue;
  const { pr } = entry;
  return [
    ...(codes.includes('BASE_BRANCH_MISMATCH')
      ? [`Change its base to ${branch}, or submit it to the queue of its base.`]
      : []),
    ...missingBelow(queue, entry)
      .filter(({ number }) => findEntry(queue, number) === undefined)
      .map(({ number, by, mergedInto }) => {
        if (mergedInto !== undefined)
          return `Open the change of #${number} again for ${branch}, or build this one on something else.`;
        return by === 'base'
          ? `Submit #${number}, or have it submitted with this one (submitStack).`
          : `Submit #${number}.`;
      }),
    ...(codes.includes('NOT_MERGEABLE')
      ? pr.blockReasons.flatMap((block) => blockAdvice(pr, block, branch) ?? [])
      : []),
    ...(codes.includes('IMPACTED_TARGETS_MISSING') ? ['Upload its impacted targets, or wait until CI does.'] : []),
  ];
}

function waitsForRoom(queue: Queue, entry: Entry): ExplanationReason[] {
  if (entry.place.kind === 'line') {
    const text = 'It is up to date and has passed its checks. Sluice lands it directly.';
    return [reason('LANDING_DIRECTLY', text, { testRun: entry.place.candidate })];
  }
  if (isBehindDirectMerge(queue, entry)) {
    return [reason('BEHIND_DIRECT_MERGE', 'Sluice lands a pull request that it overlaps with directly. It is next.')];
  }
  if (isOverLimit(queue, entry)) return [reason('ACTOR_LIMIT', `It waits: ${limitText(queue, entry)}.`)];
  const text = `The queue is full: ${queue.index.admitted} pull requests are in it, and it holds ${lineLimit(queue)}.`;
  return [reason('LINE_FULL', text)];
}

/** Without a full stop. */
// SPEC E98
function limitText(queue: Queue, entry: Entry): string {
  const most = queue.settings.maxEntriesPerActor;
  return `${entry.submitter?.name} has ${countOf(queue, entry)} of at most ${most} ${most === 1 ? 'entry' : 'entries'} in the queue (maxEntriesPerActor)`;
}

function explainAdmitted(view: View, entry: Entry): Explanation {
  const { queue, now } = view;
  const order = orderOf(queue);
  const position = order.findIndex((other) => other.prNumber === entry.prNumber) + 1;
  // While the queue holds, a pending entry waits for nothing else.
  const isHeld = queue.hold !== undefined && entry.place.kind !== 'line';
  const own = isHeld ? [] : reasonsOf(view, entry, MAX_DEPTH);
  const freeze = freezeOf(queue, entry);
  const frozen = freeze === undefined ? [] : [freezeReason(freeze, now)];
  // An entry that has passed waits for nothing but the freeze. Others wait for their tests first.
  const [before, behind] = entry.state === 'TESTS_PASSED' ? [frozen, []] : [[], frozen];
  const whole = [...queueReasons(queue, now), ...targetReasons(queue, view.beyond.held)];
  const reasons = [...whole, ...before, ...own, ...reviewReasons(entry), ...behind, ...flakeReasons(entry)];
  const [first] = reasons;
  const headline = headlineOf(queue, entry).text;
  return {
    headline,
    summary: `Pull request #${entry.prNumber}: ${headline} (${entry.state}), number ${position} of ${order.length}.${first === undefined ? '' : ` ${first.text}`}`,
    position,
    next: nextOf(queue, entry, now),
    commands: [],
    reasons,
  };
}

/** A review that was taken back does not remove it; the forge decides when it lands. */
function reviewReasons({ pr }: Entry): ExplanationReason[] {
  const lost = pr.blockReasons.filter((block) => block === 'reviewRequired' || block === 'changesRequested');
  if (pr.mergeability !== 'NOT_MERGEABLE' || lost.length === 0) return [];
  const text = `${capitalize(lost.map((block) => blockText(pr, block)).join('; '))}. The forge may refuse to merge it: settle that before it lands.`;
  return [reason('REVIEW_LOST', text)];
}

function nextOf(queue: Queue, entry: Entry, now: Instant): string {
  const { branch } = queue;
  if (queue.parked !== undefined) return 'Nothing happens until an operator resumes the queue.';
  if (queue.state === 'PAUSED') return nextWhilePaused(queue, entry);
  if (queue.head === undefined) return `It is tested automatically as soon as the branch ${branch} exists.`;
  if (queue.hold !== undefined && entry.state !== 'TESTS_PASSED') return nextWhileHeld(queue, queue.hold, entry);
  const search = searchOf(queue, entry);
  if (search !== undefined) return nextInPrefixes(queue, entry, search);
  switch (entry.state) {
    case 'PENDING':
      return entry.place.kind !== 'aside'
        ? 'It is tested automatically when its turn comes.'
        : `It is tried again automatically when #${entry.place.behind} has landed or left the queue.`;
    case 'TESTING':
      if (entry.place.kind === 'search') return nextInSearch(queue, entry);
      return `It lands automatically when all required checks have passed${whenThawed(queue, entry, now)}${after(queue, entry)}.`;
    case 'TESTS_PASSED':
      return `It lands on ${branch} automatically${whenThawed(queue, entry, now)}${after(queue, entry)}.${ifOneAheadFails(queue, entry)}`;
    default:
      return nextAfterFailure(queue, entry, now);
  }
}

/** " when the freeze ends at 12:04 UTC" */
function whenThawed(queue: Queue, entry: Entry, now: Instant): string {
  const freeze: FrozenTime | undefined = freezeOf(queue, entry);
  if (freeze === undefined) return '';
  return `${entry.state === 'TESTS_PASSED' ? '' : ' and'} when the freeze ends at ${timeOf(freeze.until, now)}`;
}

function nextWhilePaused(queue: Queue, entry: Entry): string {
  if (entry.state === 'TESTING') return 'If its checks pass, it lands when the queue is resumed.';
  if (entry.state === 'TESTS_PASSED') return `It lands automatically when the queue is resumed${after(queue, entry)}.`;
  return 'It goes on automatically when the queue is resumed.';
}

function ifOneAheadFails(queue: Queue, entry: Entry): string {
  const failed = beneathOf(queue, entry).filter(({ state }) => state === 'PENDING_FAILURE');
  if (failed.length === 0) return '';
  const ahead = listPrs(failed);
  return ` If ${ahead} ${failed.length === 1 ? 'is' : 'are'} removed, it is tested again without ${failed.length === 1 ? 'it' : 'them'}.`;
}

function nextInSearch(queue: Queue, entry: Entry): string {
  const search = findSearch(queue, searchNumberOf(entry) ?? 0);
  const isAlone = search !== undefined && partWith(search, entry).length === 1;
  const members = search?.members ?? [];
  const ahead = members.slice(
    0,
    members.findIndex(({ prNumber }) => prNumber === entry.prNumber),
  );
  const passed = ahead.length === 0 ? '' : ` and that of ${listPrs(ahead)} passes`;
  const fails = isAlone ? `${passed}, it caused the failure and is removed` : ', the search goes on in smaller parts';
  return `If this run passes, it is cleared and lands in its turn. If this run fails${fails}.`;
}

/** ", after #1 and #2 have landed" */
function after(queue: Queue, entry: Entry): string {
  const ahead = beneathOf(queue, entry);
  return ahead.length === 0 ? '' : `, after ${listPrs(ahead)}`;
}

function beneathOf(queue: Queue, entry: Entry): readonly Entry[] {
  const candidate = ownRunOf(queue, entry);
  return candidate === undefined ? [] : unlanded(queue, candidate.beneath);
}

function nextAfterFailure(queue: Queue, entry: Entry, now: Instant): string {
  const open = beneathOf(queue, entry).filter(({ state }) => state !== 'TESTS_PASSED');
  const ahead = listPrs(open);
  if (open.length === 0) return nextOfCulprit(queue, entry, now);
  return open.length === 1
    ? `If ${ahead} passes, this pull request caused the failure and is removed. If ${ahead} fails, it is tested again without it.`
    : `If all of ${ahead} pass, this pull request caused the failure and is removed. If one of them fails, it is tested again without that one.`;
}

/** The failure is its own, unless the branch or a pass behind it says otherwise. */
function nextOfCulprit(queue: Queue, entry: Entry, now: Instant): string {
  const candidate = ownRunOf(queue, entry);
  if (candidate === undefined || candidate.members.length > 1)
    return 'If this pull request caused the failure, it is removed. Otherwise it is tested again.';
  const { branch } = queue;
  if (isSuspected(queue, candidate))
    return `If ${branch} fails too, it stays in the queue until ${branch} is repaired. If ${branch} passes, it is removed.`;
  return `It is removed at ${timeOf(holdEndsAt(queue, candidate), now)} at the latest, unless a pull request behind it passes together with it.`;
}

function nextWhileHeld(queue: Queue, hold: Hold, entry: Entry): string {
  const { branch } = queue;
  if (hold.cause.kind === 'configuration')
    return `It is tested automatically as soon as the configuration of ${branch} is repaired.`;
  if (hold.cause.isOfMachine) return 'Nothing for you to do. The queue goes on automatically once CI works again.';
  if (ownRunOf(queue, entry)?.purpose.kind === 'repair') {
    return 'If it passes, it lands at once, and the queue goes on.';
  }
  const isTried = entry.repairTriedOn === queue.head?.ordinal;
  if (isPossibleRepair(hold, entry) && !isTried)
    return `It is tested alone on ${branch} as a possible repair when its turn comes, and lands if it passes.`;
  const advice = isTried ? '' : ` If it repairs ${branch}, submit it again as a repair.`;
  return `It is tested automatically once ${branch} passes or moves.${advice}`;
}

/** The server computes them, until it has answered that the branch has no rules. */
function missingText({ lanesAsked, pr }: Entry): string {
  const isAsked = lanesAsked?.sha === pr.headSha && lanesAsked.isAnswered !== true;
  if (isAsked)
    return 'Sluice looks whether .sluice.yaml on the target branch has rules for them; else CI uploads them.';
  return 'CI uploads them. By hand: sluice pr targets, with --target NAME or --all.';
}

function entryReasons(queue: Queue, entry: Entry): ExplanationReason[] {
  const { hasImpactedTargets, requiresImpactedTargets, doesBaseBranchMatch, mergeability } = readinessOf(queue, entry);
  const reasons: ExplanationReason[] = [];
  if (!doesBaseBranchMatch) {
    const text = `Its base is ${entry.pr.baseBranch}, but this queue lands on ${queue.branch}.`;
    reasons.push(reason('BASE_BRANCH_MISMATCH', text));
  }
  reasons.push(...belowReasons(queue, entry));
  if (mergeability === 'NOT_MERGEABLE') {
    const texts = entry.pr.blockReasons.map((block) => ({ block, text: blockText(entry.pr, block) }));
    const list = texts.map(({ text }) => text).join('; ');
    const blocks = texts.map(({ block, text }) => reason(block.toUpperCase(), `${capitalize(text)}.`));
    const text = list === '' ? 'It cannot be merged.' : `It cannot be merged: ${list}.`;
    reasons.push(reason('NOT_MERGEABLE', text, {}, blocks));
  } else if (mergeability !== 'MERGEABLE') {
    reasons.push(reason('MERGEABILITY_PENDING', 'The forge has not said yet whether it can be merged.'));
  }
  if (requiresImpactedTargets && !hasImpactedTargets) {
    const sha = entry.pr.headSha.slice(0, 12);
    const text = `Its impacted targets for ${sha} are missing. ${missingText(entry)}`;
    reasons.push(reason('IMPACTED_TARGETS_MISSING', text));
  }
  return reasons;
}

// SPEC O39
function belowReasons(queue: Queue, entry: Entry): ExplanationReason[] {
  const missing = missingBelow(queue, entry).map(({ number, by, mergedInto }) => {
    const state =
      mergedInto === undefined
        ? stateBelow(queue, findEntry(queue, number))
        : `was merged into ${mergedInto} and not into ${queue.branch}`;
    const why = by === 'base' ? 'Its base is the branch of' : 'It depends on';
    return reason('BELOW_MISSING', `${why} #${number}, which ${state}.`, { prNumber: number });
  });
  const elsewhere = (entry.pr.waitsFor ?? []).map((url) =>
    reason('WAITS_ELSEWHERE', `It depends on ${url}, which has not landed, or cannot be read.`, { url }),
  );
  return [...missing, ...elsewhere];
}

function stateBelow(queue: Queue, below: Entry | undefined): string {
  const { landingMode, mergeMethod } = queue.settings;
  if (below === undefined) return 'is not in the queue';
  if (!isAdmitted(below)) return isOverLimit(queue, below) ? `waits, as ${limitText(queue, below)}` : 'is not ready';
  return `lands first: with landingMode ${landingMode} and ${mergeMethod}, stacks land one by one`;
}

/** Without a full stop: several of them make one sentence. */
function blockText(pr: Entry['pr'], block: BlockReason): string {
  const { failingChecks = [], awaitedChecks = [], conflictFiles, baseBranch } = pr;
  const one = (names: readonly string[]) => (names.length === 1 ? 'a required check' : 'required checks');
  if (block === 'failingCheck' && failingChecks.length > 0)
    return `${one(failingChecks)} failed on its newest commit: ${listOf(failingChecks)}`;
  if (block === 'awaitingCheck' && awaitedChecks.length > 0)
    return `${one(awaitedChecks)} ${awaitedChecks.length === 1 ? 'has' : 'have'} not reported on its newest commit yet: ${listOf(awaitedChecks)}`;
  if (block === 'conflict') return `it conflicts with ${baseBranch}${inFiles(conflictFiles)}`;
  if (block === 'behind') return `it is behind ${baseBranch}, and the forge requires it to be up to date`;
  if (block === 'other' && pr.blockDetail !== undefined) return pr.blockDetail;
  if (block === 'stackNeedsRebase') return `it lacks the present commits of ${belowText(pr)}, on which it is built`;
  return BLOCK_TEXTS[block];
}

function belowText({ below = [] }: Entry['pr']): string {
  const [one, ...others] = below.filter(({ by }) => by !== 'ancestor');
  return one === undefined || others.length > 0 ? 'a pull request' : `#${one.number}`;
}

type NamedBlock = Exclude<BlockReason, 'conflict' | 'behind' | 'stackNeedsRebase'>;

const BLOCK_TEXTS: { readonly [Reason in NamedBlock]: string } = {
  draft: 'it is a draft',
  closed: 'it is closed',
  pending: 'the forge has not decided yet',
  awaitingCheck: 'a required check has not reported on its newest commit yet',
  failingCheck: 'a required check failed on its newest commit',
  reviewRequired: 'a required review is missing',
  changesRequested: 'a reviewer requested changes',
  other:
    'the forge gives no reason. On plain git, the target branch does not exist, or has no commit in common with it',
};

/** Undefined: time alone helps. */
function blockAdvice(pr: Entry['pr'], block: BlockReason, branch: string): string | undefined {
  const { failingChecks = [] } = pr;
  // A program reads this sentence, and the author may have named the base.
  const base = pr.baseBranch === branch ? branch : 'its base';
  const advice: { readonly [Reason in BlockReason]?: string } = {
    conflict: `Rebase it onto ${base} and push.`,
    behind: `Update it from ${base} and push.`,
    draft: 'Mark it as ready for review.',
    closed: 'Reopen it.',
    failingCheck: `Fix ${failingChecks.length === 0 ? 'the check' : listOf(failingChecks)} and push.`,
    reviewRequired: 'Get the required review.',
    changesRequested: 'Make the changes, and have them approved.',
    stackNeedsRebase: 'Rebase it onto the new head below and push.',
    other: 'Look on the forge for what is missing, and mend it.',
  };
  return advice[block];
}
