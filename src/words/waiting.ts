import { freeSlots } from '../engine/line/slots.ts';
import { voucherOf } from '../engine/line/vouch.ts';
import { type Candidate, isUnderTest } from '../engine/model/candidate.ts';
import { policyOf } from '../engine/model/policy.ts';
import { parsePriority, raisedValue } from '../engine/model/priority.ts';
import { type Entry, ownRunOf } from '../engine/model/queue.ts';
import { candidatesFor, lineOf, unlanded } from '../engine/model/roster.ts';
import type { Group } from '../engine/model/strategy.ts';
import { valueOfRun } from '../engine/policy/adaptive.ts';
import { waitingForSome } from './blockers.ts';
import { type ExplanationReason, reason } from './explanation.ts';
import { count, listPrs, prName, timeOf } from './phrases.ts';
import { conflictAheadText } from './reasons.ts';
import { bisectionReason, candidateReasons } from './testing.ts';
import { groupsOf, named, orderOf, type View } from './view.ts';

/** A line may be long, so reasons of reasons are cut at this depth. */
export const MAX_DEPTH = 4;
/** Only the first few entries are named, open ones first. */
const NAMED = 3;

/** The reasons why an entry of the line waits, with their own reasons. */
export function reasonsOf(view: View, entry: Entry, depth: number): ExplanationReason[] {
  if (depth === 0) return [];
  const { queue } = view;
  const { place } = entry;
  if (place.kind === 'aside') {
    const ahead = `#${place.behind}`;
    const text = `${conflictAheadText(place.behind, entry.because.files)} Or rebase it onto ${ahead}, push, and submit it again: then it need not wait.`;
    return [reason('CONFLICT_AHEAD', text, { prNumber: place.behind })];
  }
  if (place.kind === 'search') return [bisectionReason(view, entry)];
  const candidate = ownRunOf(queue, entry);
  if (candidate === undefined) return pendingReasons(view, entry, depth);
  const voucher = voucherOf(queue, entry);
  if (voucher === undefined) return candidateReasons(view, entry, candidate, depth);
  const text = 'A pull request behind it passed together with it. Both land together.';
  return [reason('VOUCHED', text, { testRun: voucher })];
}

/** ADAPTIVE tests an entry when a run is worth its cost, and not in fixed groups. */
// SPEC K21
function adaptiveReasons(view: View, entry: Entry, depth: number): ExplanationReason[] {
  const { queue, now } = view;
  const cleared = entry.isCleared
    ? [reason('CLEARED', 'It passed ahead of its turn. It lands together with the next run of the line.')]
    : [];
  const slots = slotReasons(view, depth);
  const own = [...raiseReasons(entry), ...priorityReasons(view, entry), ...cleared, ...slots];
  if (slots.length > 0 || queue.state === 'PAUSED' || queue.hold !== undefined) return own;
  const value = valueOfRun(queue, now, entry);
  if (value === undefined || value >= queue.settings.runCost) return [...own, ...aheadReasons(view, depth)];
  const worth = `A run now is worth ${value.toFixed(1)} waiting pull requests, and a run costs ${queue.settings.runCost} (runCost).`;
  return [
    ...own,
    reason(
      'NOT_WORTH_A_RUN',
      `${worth} It is tested when more wait, or when the line has moved.`,
      {},
      aheadReasons(view, depth),
    ),
  ];
}

function aheadReasons(view: View, depth: number): ExplanationReason[] {
  const first = lineOf(view.queue)
    .flatMap((candidate) => unlanded(view.queue, candidate.members))
    .slice(0, 1);
  return waitingForSome(view, first, depth);
}

function pendingReasons(view: View, entry: Entry, depth: number): ExplanationReason[] {
  const { queue } = view;
  if (policyOf(queue).kind === 'adaptive') return adaptiveReasons(view, entry, depth);
  const groups = groupsOf(view);
  const group = groups.find(({ entries }) => entries.some(({ prNumber }) => prNumber === entry.prNumber));
  if (group === undefined) return [];
  const ahead = lineOf(queue).filter(({ number }) => group.ahead.has(number));
  const held = ahead.find((candidate) => candidate.state === 'failed');
  const reasons = [
    ...raiseReasons(entry),
    ...priorityReasons(view, entry),
    ...(held === undefined ? [] : waitingForSome(view, unlanded(queue, held.members), depth)),
    ...farBehindReasons(view, { group, ahead }, depth),
    ...batchReasons(view, entry, group),
    ...slotReasons(view, depth),
  ];
  const before = groups[groups.indexOf(group) - 1];
  const waits = reasons.some(({ code }) => code !== 'OVERTAKEN' && code !== 'PRIORITY_RAISED');
  if (waits || before === undefined || !group.ahead.has(before.id)) return reasons;
  const behind = before.entries
    .slice(0, NAMED)
    .map((other) =>
      reason('BEHIND', `It is behind ${prName(named(other))}, which waits too.`, { prNumber: other.prNumber }),
    );
  return [...reasons, ...behind];
}

function raiseReasons({ priority, raised }: Entry): ExplanationReason[] {
  if (raised === 0) return [];
  const { name } = parsePriority(raisedValue(priority.value, raised)) ?? priority;
  return [reason('PRIORITY_RAISED', `It has waited so long that it counts as ${name} instead of ${priority.name}.`)];
}

// SPEC E24
function priorityReasons({ queue }: View, entry: Entry): ExplanationReason[] {
  const ordinal = entry.admission?.ordinal ?? 0;
  const order = orderOf(queue);
  const place = order.findIndex(({ prNumber }) => prNumber === entry.prNumber);
  return order
    .slice(0, Math.max(0, place))
    .filter((other) => (other.admission?.ordinal ?? 0) > ordinal && other.priority.value < entry.priority.value)
    .slice(0, NAMED)
    .map((other) => {
      const text = `${prName(named(other))} came later and goes first: its priority is ${other.priority.name}, and this one's is ${entry.priority.name}.`;
      return reason('OVERTAKEN', text, { prNumber: other.prNumber });
    });
}

interface Behind {
  readonly group: Group;
  readonly ahead: readonly Candidate[];
}

function farBehindReasons(view: View, { group, ahead }: Behind, depth: number): ExplanationReason[] {
  const { concurrency } = view.queue.settings;
  if (group.ahead.size <= concurrency) return [];
  const text = `${count(group.ahead.size, 'test run')} ahead of it have not landed. Sluice tests on top of at most ${concurrency} (concurrency).`;
  const first = ahead.flatMap((candidate) => unlanded(view.queue, candidate.members)).slice(0, 1);
  return [reason('TOO_FAR_BEHIND', text, {}, waitingForSome(view, first, depth))];
}

function batchReasons({ queue, now }: View, entry: Entry, group: Group): ExplanationReason[] {
  if (group.fires || group.waitsUntil === undefined) return [];
  const others = group.entries.filter(({ prNumber }) => prNumber !== entry.prNumber).map(named);
  const withWhom = others.length === 0 ? '' : ` (with ${listPrs(others)})`;
  const size = queue.settings.batchingMinSize;
  const text = `Its batch has ${group.entries.length} of ${size} pull requests${withWhom}. Testing starts when it is full, at ${timeOf(group.waitsUntil, now)} at the latest.`;
  return [reason('WAITING_FOR_BATCH', text)];
}

function slotReasons(view: View, depth: number): ExplanationReason[] {
  const { queue } = view;
  if (freeSlots(queue) > 0) return [];
  const { concurrency } = queue.settings;
  const text =
    concurrency === 1 ? 'The only test slot is taken.' : `All test slots are taken: ${concurrency} (concurrency).`;
  return [reason('WAITING_FOR_SLOT', text, {}, slotHolders(view, depth))];
}

function slotHolders(view: View, depth: number): ExplanationReason[] {
  if (depth < MAX_DEPTH) return [];
  const { queue } = view;
  const isSharing = policyOf(queue).bisectionConcurrency === 0;
  const holders = [...lineOf(queue), ...(isSharing ? candidatesFor(queue, 'bisection') : [])].filter(isUnderTest);
  const entries = holders.flatMap((candidate) => unlanded(queue, candidate.members));
  return waitingForSome(view, entries, 2);
}
