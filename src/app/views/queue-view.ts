import { entriesInOrder } from '../../engine/order.ts';
import type { Queue, QueueState } from '../../engine/queue.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { RecentAlarms } from '../alarms.ts';
import { type ListEntryView, viewListEntry } from './entry-view.ts';

export type QueueConfigView = Omit<QueueSettings, 'bisectionConcurrency'> & {
  readonly state: QueueState;
  readonly branch: string;
  readonly bisectionConcurrency: number;
  /** The queue stopped itself because a promise would have been broken: why, and the event that did it. */
  readonly parked?: { readonly reason: string; readonly eventId: number };
};

/** What an operator should hear about, newest first. */
export interface AlarmView {
  readonly at: string;
  readonly code: string;
  readonly text: string;
}

export interface QueueView extends QueueConfigView {
  readonly alarms: readonly AlarmView[];
  readonly enqueuedPullRequests: readonly ListEntryView[];
}

export function viewQueueConfig(queue: Queue): QueueConfigView {
  const { settings, state, branch, parked } = queue;
  return {
    ...settings,
    state: parked === undefined ? state : 'PAUSED',
    branch,
    bisectionConcurrency: settings.bisectionConcurrency ?? settings.concurrency,
    ...(parked === undefined ? {} : { parked: { reason: parked.reason, eventId: parked.eventId ?? 0 } }),
  };
}

export function viewAlarms(alarms: RecentAlarms): AlarmView[] {
  return alarms.map(({ at, code, text }) => ({ at: formatInstant(at), code, text }));
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
