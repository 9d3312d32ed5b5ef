import type { Instant } from '../lib/clock.ts';
import { walk } from '../lib/sorted-list.ts';
import { nextRaiseAt } from './ageing.ts';
import { formGroups } from './batch.ts';
import { nextLookAt, redTestEnds } from './hold.ts';
import { freeSlots } from './plan.ts';
import { findEntry, mayStartTests, type Queue } from './queue.ts';
import { reviewDueAt } from './review-required.ts';
import { candidatesOf } from './roster.ts';
import { silentFrom } from './silence.ts';
import { REFERENCE_STRATEGY, type Strategy } from './strategy.ts';
import { awaitedUntil, holdEndsAt, isFailure, testingEndsAt } from './verdict.ts';

/** When something happens by itself unless something else happens before; undefined where nothing does. */
export function nextWakeAt(queue: Queue, now: Instant, strategy: Strategy = REFERENCE_STRATEGY): Instant | undefined {
  if (queue.parked !== undefined) return undefined;
  const instants = [
    ...testingDeadlines(queue),
    ...judgementDeadlines(queue),
    ...silences(queue),
    ...holdEnds(queue, now),
    ...notReadyEnds(queue),
    ...looks(queue),
    ...redTestEnds(queue),
    ...candidatesOf(queue).flatMap((candidate) => reviewDueAt(candidate) ?? []),
    ...nextRaiseAt(queue, now),
  ];
  if (queue.settings.batch) instants.push(...batchWaits(queue, now, strategy));
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function testingDeadlines(queue: Queue): Instant[] {
  return candidatesOf(queue).flatMap((candidate) => testingEndsAt(queue, candidate) ?? []);
}

function judgementDeadlines(queue: Queue): Instant[] {
  return candidatesOf(queue)
    .flatMap(({ checks }) => checks.map(awaitedUntil))
    .filter(Number.isFinite);
}

/** Where there is nobody to tell, whoever asks sees by the clock how long it was silent. */
function silences(queue: Queue): Instant[] {
  if (!queue.hasPages) return [];
  return candidatesOf(queue)
    .filter(({ isSilenceTold }) => isSilenceTold !== true)
    .flatMap((candidate) => silentFrom(candidate) ?? []);
}

/** A hold that is over and goes on waits for something else than time. */
function holdEnds(queue: Queue, now: Instant): Instant[] {
  if (queue.settings.pendingFailureDepth === 0) return [];
  return candidatesOf(queue)
    .filter((candidate) => isFailure(queue, candidate))
    .map((candidate) => holdEndsAt(queue, candidate))
    .filter((instant) => instant > now);
}

function looks(queue: Queue): Instant[] {
  const at = nextLookAt(queue);
  return at === undefined ? [] : [at];
}

function notReadyEnds(queue: Queue): Instant[] {
  const limitMs = queue.settings.notReadyTimeoutHours * 3_600_000;
  if (limitMs === 0) return [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const prNumber of walk(queue.index.unready)) {
    const entry = findEntry(queue, prNumber);
    if (entry === undefined) continue;
    // By submission: whoever came later than this cannot end before it.
    if (entry.submittedAt + limitMs >= earliest) break;
    earliest = Math.min(earliest, entry.unreadySince + limitMs);
  }
  return Number.isFinite(earliest) ? [earliest] : [];
}

/** Only waits that are still to end: a group that may be tested and is not waits for something else than time. */
function batchWaits(queue: Queue, now: Instant, strategy: Strategy): Instant[] {
  // Without a free slot nothing would start, and forming groups is dear.
  if (!mayStartTests(queue) || freeSlots({ queue, strategy }) <= 0) return [];
  return formGroups({ queue, at: now, strategy }).flatMap(({ waitsUntil }) =>
    waitsUntil !== undefined && waitsUntil > now ? [waitsUntil] : [],
  );
}
