import { awaitedUntil, testingEndsAt } from '../../src/engine/evidence/judge.ts';
import type { Candidate } from '../../src/engine/model/candidate.ts';
import {
  type Entry,
  findCandidate,
  findEntry,
  isAdmitted,
  mayStartTests,
  mayWork,
  type Queue,
} from '../../src/engine/model/queue.ts';
import { candidatesOf } from '../../src/engine/model/roster.ts';
import { step } from '../../src/engine/step.ts';
import { nextWakeAt } from '../../src/engine/wake.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import type { StoredEffect } from '../../src/storage/queues.ts';
import type { Chapter } from './chronicle.ts';

/** Finds work that a plan left undone. It would wait for the next event, whenever that comes. */
export function findUndone({ event, step: { queue, outcome } }: Chapter): string | undefined {
  if (outcome.kind !== 'applied' || queue.parked !== undefined) return undefined;
  const again = step(queue, { kind: 'time_passed', at: event.at });
  const moves = again.transitions.map(({ prNumber, to }) => `#${prNumber} becomes ${to}`);
  const effects = again.effects.map(({ kind }) => kind);
  if (again.outcome.kind === 'parked') return again.outcome.detail;
  return moves.length + effects.length === 0 ? undefined : `left undone: ${[...moves, ...effects].join(', ')}`;
}

export interface Outlook {
  /** Undefined if the clocks of the servers differ. Then timers cannot be judged from outside. */
  readonly now: Instant | undefined;
  /** The pending effects in the store at the same moment. */
  readonly effects: readonly StoredEffect[];
}

/**
 * Finds an entry that nothing can ever move. A pending effect, a run with a deadline, a timer or a notified person can
 * move it (a pause, a deleted branch, a parked queue).
 */
export function findUnmoved(queue: Queue, outlook: Outlook): string | undefined {
  if (queue.parked !== undefined) return undefined;
  for (const candidate of candidatesOf(queue)) {
    const stuck = findStill(queue, candidate, outlook);
    if (stuck !== undefined) return `candidate ${candidate.number} ${stuck}`;
  }
  const { landing } = queue;
  if (landing !== undefined && !hasEffect(outlook, 'land_candidate', landing.candidate)) {
    return `nobody carries out the landing of candidate ${landing.candidate}`;
  }
  for (const entry of valuesOf(queue.entries)) {
    const { prNumber, place } = entry;
    if (place.kind === 'aside' && findEntry(queue, place.behind) === undefined)
      return `#${prNumber} is set aside for #${place.behind}, which is gone`;
  }
  return isDead(queue, outlook) ? describeDead(queue) : undefined;
}

/** Why a candidate makes no progress. */
function findStill(queue: Queue, candidate: Candidate, outlook: Outlook): string | undefined {
  const { number, state, sameTreeAs } = candidate;
  if (state === 'building') {
    const isLeft = candidate.isPutOff === true || hasEffect(outlook, 'build_candidate', number);
    return isLeft ? undefined : 'is built by nobody';
  }
  if (state !== 'testing') return undefined;
  if (sameTreeAs !== undefined) {
    const isWaiting =
      sameTreeAs === number || findCandidate(queue, sameTreeAs)?.state === 'testing' || !mayStartTests(queue);
    return isWaiting ? undefined : `waits for candidate ${sameTreeAs}, which is over`;
  }
  const hasDeadline = testingEndsAt(queue, candidate) !== undefined || queue.settings.testingTimeoutMinutes === 0;
  const isJudged = candidate.checks.some((check) => Number.isFinite(awaitedUntil(check)));
  return hasDeadline || isJudged || candidate.isPutOff === true ? undefined : 'has no deadline';
}

function hasEffect({ effects }: Outlook, kind: string, candidate: number): boolean {
  return effects.some((effect) => effect.kind === kind && JSON.parse(effect.body).candidate === candidate);
}

/** A timer may fire a little late. */
const LATE_MS = 5_000;

/** The line has entries, the queue may work, and nothing is under way or due. */
function isDead(queue: Queue, { now, effects }: Outlook): boolean {
  if (now === undefined || !mayWork(queue) || queue.landing !== undefined) return false;
  if (![...valuesOf(queue.entries)].some(isAdmitted)) return false;
  if (candidatesOf(queue).some(({ state }) => state === 'building' || state === 'testing')) return false;
  return effects.length === 0 && nextWakeAt(queue, now - LATE_MS) === undefined;
}

function describeDead(queue: Queue): string {
  const entries = [...valuesOf(queue.entries)].filter(isAdmitted);
  const names = entries.map(({ prNumber, state }: Entry) => `#${prNumber} ${state}`).join(', ');
  return `nothing is under way and nothing is due for ${names}${queue.hold === undefined ? '' : ': the target is red'}`;
}
