import type { Instant } from '../lib/clock.ts';
import { deleteIn, setIn } from '../lib/int-map.ts';
import type { PrNumber } from './pull-request.ts';
import { type Entry, type EntryId, type EntryState, findEntry, isAdmitted, isLive, type Queue } from './queue.ts';
import type { ReasonCode } from './reason.ts';

export type Outcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'refused'; readonly code: RefusedStep; readonly detail: string };

export type RefusedStep =
  | 'PULL_REQUEST_NOT_IN_QUEUE'
  | 'TESTS_NOT_RESTARTABLE'
  | 'MODE_CHANGE_IN_PROGRESS'
  | 'QUEUE_NOT_EMPTY'
  | 'VALIDATION_FAILED';

export interface Transition {
  readonly entryId: EntryId;
  readonly prNumber: PrNumber;
  readonly at: Instant;
  readonly from: EntryState | undefined;
  readonly to: EntryState;
  readonly reason: ReasonCode;
  readonly actor: string | undefined;
  /** Spent in `from`; never negative, also when the clock went back. */
  readonly durationMs: number | undefined;
  /** Since admission, where this ends the cycle of an admitted entry. */
  readonly inQueueMs: number | undefined;
}

/** The step under construction: `queue` is replaced, never changed; the lists grow. */
export interface Work {
  readonly before: Queue;
  queue: Queue;
  readonly at: Instant;
  readonly transitions: Transition[];
  readonly ended: Entry[];
}

export const APPLIED: Outcome = { kind: 'applied' };

export function refused(code: RefusedStep, detail: string): Outcome {
  return { kind: 'refused', code, detail };
}

/** Stores an entry that stays in the queue, without a change of its state. */
export function keep(work: Work, entry: Entry): void {
  work.queue = { ...work.queue, entries: setIn(work.queue.entries, entry.prNumber, entry) };
}

export interface Move {
  readonly to: EntryState;
  readonly reason: ReasonCode;
  readonly actor?: string;
}

/** The only way an entry changes its state: the transition is recorded with its reason, and an ended entry leaves. */
export function move(work: Work, entry: Entry, { to, reason, actor }: Move): void {
  const known = findEntry(work.queue, entry.prNumber);
  const moved: Entry = { ...entry, state: to, stateChangedAt: work.at };
  const ends = !isLive(to);
  work.transitions.push({
    entryId: entry.id,
    prNumber: entry.prNumber,
    at: work.at,
    from: known?.state,
    to,
    reason,
    actor,
    durationMs: known === undefined ? undefined : Math.max(0, work.at - known.stateChangedAt),
    inQueueMs: ends && isAdmitted(entry) ? Math.max(0, work.at - (entry.admission?.at ?? work.at)) : undefined,
  });
  if (ends) {
    work.ended.push(moved);
    work.queue = { ...work.queue, entries: deleteIn(work.queue.entries, entry.prNumber) };
  } else {
    keep(work, moved);
  }
}
