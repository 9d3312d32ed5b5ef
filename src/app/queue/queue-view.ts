import { holdReason } from '../../engine/explain.ts';
import { nextLookAt } from '../../engine/hold.ts';
import { entriesInOrder } from '../../engine/order.ts';
import type { Hold, Queue, QueueState } from '../../engine/queue.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { RecentAlarms } from '../core/alarms.ts';
import { type ListEntryView, viewListEntry } from './entry-view.ts';

export type QueueConfigView = Omit<QueueSettings, 'bisectionConcurrency'> & {
  readonly state: QueueState;
  readonly branch: string;
  readonly bisectionConcurrency: number;
  /** The queue stopped itself because a step would have broken an invariant: why, and the event of that step. */
  readonly parked?: { readonly reason: string; readonly eventId: number };
  readonly hold?: HoldView;
};

/** The target branch is to blame: the queue tests nothing else, and removes no entry for a failure. */
export interface HoldView {
  readonly kind: 'RED_BRANCH' | 'BROKEN_CONFIGURATION';
  readonly since: string;
  readonly text: string;
  readonly checks: readonly string[];
  /** Absent while the head is being tested, and while the queue is paused. */
  readonly nextTestAt?: string;
}

/** Alarms for the operator, newest first. */
export interface AlarmView {
  readonly at: string;
  readonly code: string;
  readonly text: string;
  /** When the cause of the alarm ended. */
  readonly endedAt?: string;
}

export interface QueueView extends QueueConfigView {
  readonly alarms: readonly AlarmView[];
  readonly enqueuedPullRequests: readonly ListEntryView[];
}

export function viewQueueConfig(queue: Queue): QueueConfigView {
  const { settings, state, branch, parked, hold } = queue;
  return {
    ...settings,
    state: parked === undefined ? state : 'PAUSED',
    branch,
    bisectionConcurrency: settings.bisectionConcurrency ?? settings.concurrency,
    ...(parked === undefined ? {} : { parked: { reason: parked.reason, eventId: parked.eventId ?? 0 } }),
    ...(hold === undefined ? {} : { hold: viewHold(queue, hold) }),
  };
}

function viewHold(queue: Queue, hold: Hold): HoldView {
  const nextTestAt = nextLookAt(queue);
  return {
    kind: hold.cause.kind === 'checks' ? 'RED_BRANCH' : 'BROKEN_CONFIGURATION',
    since: formatInstant(hold.since),
    text: holdReason(queue, hold).text,
    checks: hold.cause.kind === 'checks' ? hold.cause.names : [],
    ...(nextTestAt === undefined ? {} : { nextTestAt: formatInstant(nextTestAt) }),
  };
}

export function viewAlarms(alarms: RecentAlarms): AlarmView[] {
  return alarms.map(({ at, code, text, endedAt }) => ({
    at: formatInstant(at),
    code,
    text,
    ...(endedAt === null ? {} : { endedAt: formatInstant(endedAt) }),
  }));
}

/** Queues are immutable, and so are lists of alarms: the view is made once for each pair. */
const views = new WeakMap<Queue, { readonly alarms: RecentAlarms; readonly view: QueueView }>();

export function viewQueue(queue: Queue, alarms: RecentAlarms): QueueView {
  const known = views.get(queue);
  if (known?.alarms === alarms) return known.view;
  const view = makeView(queue, alarms);
  views.set(queue, { alarms, view });
  return view;
}

/** Every live entry: under test, passed or held first, then pending, then not ready; each in order. */
function makeView(queue: Queue, alarms: RecentAlarms): QueueView {
  return {
    ...viewQueueConfig(queue),
    alarms: viewAlarms(alarms),
    enqueuedPullRequests: entriesInOrder(queue).map(viewListEntry),
  };
}
