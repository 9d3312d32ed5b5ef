import type { HintRow } from '../hints.ts';
import type { EffectRow, EventRow, TransitionRow } from '../queues.ts';
import { rowsOf } from './columns.ts';
import { UNLEASED } from './leased-work.ts';
import {
  ALARM,
  AUDIT_MARK,
  CANDIDATE,
  EFFECT,
  ENTRY,
  EVENT,
  HINT,
  IDEMPOTENT_REQUEST,
  IMPACTED_TARGETS,
  ORGANIZATION,
  PAST_FACT,
  PULL_REQUEST_NOTE,
  QUEUE,
  REPOSITORY,
  SESSION,
  TOKEN,
  TRANSITION,
  WEBHOOK,
  WEBHOOK_DELIVERY,
} from './queue-tables.ts';
import type { Schema } from './schema.ts';

/** Rows of the database to rows of the ports and back. */

export const { to: toOrganization, from: fromOrganization } = rowsOf(ORGANIZATION);
export const { to: toToken, from: fromToken } = rowsOf(TOKEN);
export const { to: toRepository, from: fromRepository } = rowsOf(REPOSITORY);
export const { to: toQueue, from: fromQueue } = rowsOf(QUEUE);
export const { to: toEntry, from: fromEntry } = rowsOf(ENTRY);
export const { to: toCandidate, from: fromCandidate } = rowsOf(CANDIDATE);
export const { to: toEffect } = rowsOf(EFFECT);
export const { to: toImpactedTargets, from: fromImpactedTargets } = rowsOf(IMPACTED_TARGETS);
export const { to: toAlarm, from: fromAlarm } = rowsOf(ALARM);
export const { to: toAuditMark, from: fromAuditMark } = rowsOf(AUDIT_MARK);
export const { to: toPullRequestNote } = rowsOf(PULL_REQUEST_NOTE);
export const { to: toIdempotentRequest } = rowsOf(IDEMPOTENT_REQUEST);
export const { to: toSession, from: fromSession } = rowsOf(SESSION);
export const { to: toWebhook, from: fromWebhook } = rowsOf(WEBHOOK);
export const { to: toPastFact, from: fromPastFact } = rowsOf(PAST_FACT);
export const { to: toDelivery, from: fromDelivery } = rowsOf(WEBHOOK_DELIVERY);

const events = rowsOf(EVENT);
export const toEvent = events.to;

export function fromEvent(queueId: string, event: EventRow): Schema['queue_events'] {
  return { queue_id: queueId, ...events.from(event) };
}

const transitions = rowsOf(TRANSITION);

export function toTransition(row: Schema['transitions']): TransitionRow {
  const { fromState, toState, ...rest } = transitions.to(row);
  return { ...rest, from: fromState, to: toState };
}

export function fromTransition({ from, to, ...rest }: TransitionRow): Schema['transitions'] {
  return transitions.from({ ...rest, fromState: from, toState: to });
}

/** As it is stored first. */
export function fromEffect(
  { queueId, version, ordinal }: { readonly queueId: string; readonly version: number; readonly ordinal: number },
  { id, kind, stream, dueAt, body }: EffectRow,
): Schema['effects'] {
  const untried = { attempts: 0, last_error: null, parked_at: null, ...UNLEASED };
  return { queue_id: queueId, id, version, ordinal, kind, stream, due_at: dueAt, body, ...untried };
}

const hints = rowsOf(HINT);
export const toHint = hints.to;

/** As it is stored first. */
export function fromHint(hint: HintRow): Schema['hints'] {
  return { ...hints.from({ ...hint, version: 1, attempts: 0 }), ...UNLEASED, remembered_until: null };
}
