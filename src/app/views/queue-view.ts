import { entriesInOrder } from '../../engine/order.ts';
import type { Queue, QueueState } from '../../engine/queue.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { type ListEntryView, viewListEntry } from './entry-view.ts';

export type QueueConfigView = Omit<QueueSettings, 'bisectionConcurrency'> & {
  readonly state: QueueState;
  readonly branch: string;
  readonly bisectionConcurrency: number;
  /** The queue stopped itself because a promise would have been broken: why, and the event that did it. */
  readonly parked?: { readonly reason: string; readonly eventId: number };
};

export interface QueueView extends QueueConfigView {
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

/** A queue never changes, it is replaced: its view is made once, however often it is asked for. */
const views = new WeakMap<Queue, QueueView>();

export function viewQueue(queue: Queue): QueueView {
  const known = views.get(queue);
  if (known !== undefined) return known;
  const view = makeView(queue);
  views.set(queue, view);
  return view;
}

/** Every live entry: those under test, passed or held, then the pending ones, then those not ready; each in order. */
function makeView(queue: Queue): QueueView {
  return { ...viewQueueConfig(queue), enqueuedPullRequests: entriesInOrder(queue).map(viewListEntry) };
}
