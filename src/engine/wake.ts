import type { Instant } from '../lib/clock.ts';
import { walk } from '../lib/sorted-list.ts';
import { nextHeadTestAt, redTestEnds } from './evidence/hold.ts';
import { awaitedUntil, readUntil, testingEndsAt } from './evidence/judge.ts';
import { reviewDueAt } from './facts/review-required.ts';
import { nextRaiseAt } from './line/ageing.ts';
import { freezeWakes } from './line/frozen.ts';
import { silentFrom } from './line/silence.ts';
import { isFailure } from './line/vouch.ts';
import { policyOf } from './model/policy.ts';
import { findEntry, type Queue } from './model/queue.ts';
import { candidatesOf } from './model/roster.ts';
import { lonelyUntil, waitingForBelow } from './model/stack.ts';
import type { Strategy } from './model/strategy.ts';
import { strategyOf } from './policy/adaptive.ts';
import { holdEndsAt } from './search/verdict.ts';

/** The next instant at which the queue has to act without an event; undefined if there is none. */
export function nextWakeAt(queue: Queue, now: Instant, strategy: Strategy = strategyOf(queue)): Instant | undefined {
  if (queue.parked !== undefined) return undefined;
  const instants = [
    ...testingDeadlines(queue),
    ...judgementDeadlines(queue),
    ...silences(queue),
    ...holdEnds(queue, now),
    ...notReadyEnds(queue),
    ...headTests(queue),
    ...pauseEnd(queue),
    ...freezeWakes(queue, now),
    ...redTestEnds(queue),
    ...candidatesOf(queue).flatMap((candidate) => reviewDueAt(candidate) ?? []),
    ...nextRaiseAt(queue, now),
  ];
  const strategyAt = strategy.wakeAt(queue, now);
  if (strategyAt !== undefined) instants.push(strategyAt);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function pauseEnd({ state, stateChange }: Queue): Instant[] {
  return state === 'PAUSED' && stateChange?.until !== undefined ? [stateChange.until] : [];
}

function testingDeadlines(queue: Queue): Instant[] {
  return candidatesOf(queue).flatMap((candidate) => testingEndsAt(queue, candidate) ?? []);
}

function judgementDeadlines(queue: Queue): Instant[] {
  const isRead = !policyOf(queue).confirms;
  return candidatesOf(queue)
    .flatMap(({ checks }) =>
      checks.flatMap((check) => [awaitedUntil(check), isRead ? Number.POSITIVE_INFINITY : readUntil(check)]),
    )
    .filter(Number.isFinite);
}

/** A queue without pages notifies no one. Its API derives the silence from the clock on every read. */
function silences(queue: Queue): Instant[] {
  if (!queue.hasPages) return [];
  return candidatesOf(queue)
    .filter(({ isSilenceTold }) => isSilenceTold !== true)
    .flatMap((candidate) => silentFrom(candidate) ?? []);
}

/** A hold in the past is still open only if it waits for something else than time. */
function holdEnds(queue: Queue, now: Instant): Instant[] {
  if (policyOf(queue).pendingFailureDepth === 0) return [];
  return candidatesOf(queue)
    .filter((candidate) => isFailure(queue, candidate))
    .map((candidate) => holdEndsAt(queue, candidate))
    .filter((instant) => instant > now);
}

function headTests(queue: Queue): Instant[] {
  const at = nextHeadTestAt(queue);
  return at === undefined ? [] : [at];
}

function notReadyEnds(queue: Queue): Instant[] {
  return [...unreadyEnds(queue), ...waitingForBelow(queue).map((entry) => lonelyUntil(queue, entry))];
}

function unreadyEnds(queue: Queue): Instant[] {
  const limitMs = queue.settings.notReadyTimeoutHours * 3_600_000;
  if (limitMs === 0) return [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const prNumber of walk(queue.index.unready)) {
    const entry = findEntry(queue, prNumber);
    if (entry === undefined) continue;
    // Sorted by submission, so no later entry can expire earlier.
    if (entry.submittedAt + limitMs >= earliest) break;
    earliest = Math.min(earliest, entry.unreadySince + limitMs);
  }
  return Number.isFinite(earliest) ? [earliest] : [];
}
