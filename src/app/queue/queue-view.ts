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
  /** The queue stopped itself because a promise would have been broken: why, and the event that did it. */
  readonly parked?: { readonly reason: string; readonly eventId: number };
  readonly hold?: HoldView;
};

/** The target branch is to blame: nothing else is tested, and nobody is removed for a failure. */
export interface HoldView {
  readonly kind: 'RED_BRANCH' | 'BROKEN_CONFIGURATION';
  readonly since: string;
  readonly text: string;
  readonly checks: readonly string[];
  /** Absent while the head is being tested, and while the queue is paused. */
  readonly nextTestAt?: string;
}

/** What an operator should hear about, newest first. */
export interface AlarmView {
  readonly at: string;
  readonly code: string;
  readonly text: string;
  /** When what it was raised for was over. */
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

/** A queue never changes, it is replaced, and so are its alarms: its view is made once, however often it is asked for. */
const views = new WeakMap<Queue, { readonly alarms: RecentAlarms; readonly view: QueueView }>();

export function viewQueue(queue: Queue, alarms: RecentAlarms): QueueView {
  const known = views.get(queue);
  if (known?.alarms === alarms) return known.view;
  const view = makeView(queue, alarms);
  views.set(queue, { alarms, view });
  return view;
}

/** Every live entry: those under test, passed or held, then the pending ones, then those not ready; each in order. */
function makeView(queue: Queue, alarms: RecentAlarms): QueueView {
  return {
    ...viewQueueConfig(queue),
    alarms: viewAlarms(alarms),
    enqueuedPullRequests: entriesInOrder(queue).map(viewListEntry),
  };
}
