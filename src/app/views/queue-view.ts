import { admittedInOrder, notReadyInOrder } from '../../engine/order.ts';
import type { Queue, QueueState } from '../../engine/queue.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { type ListEntryView, viewListEntry } from './entry-view.ts';

export type QueueConfigView = Omit<QueueSettings, 'bisectionConcurrency'> & {
  readonly state: QueueState;
  readonly branch: string;
  readonly bisectionConcurrency: number;
};

export interface QueueView extends QueueConfigView {
  readonly enqueuedPullRequests: readonly ListEntryView[];
}

export function viewQueueConfig(queue: Queue): QueueConfigView {
  const { settings, state, branch } = queue;
  return { ...settings, state, branch, bisectionConcurrency: settings.bisectionConcurrency ?? settings.concurrency };
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
  const admitted = admittedInOrder(queue);
  const entries = [
    ...admitted.filter((entry) => entry.state !== 'PENDING'),
    ...admitted.filter((entry) => entry.state === 'PENDING'),
    ...notReadyInOrder(queue),
  ];
  return { ...viewQueueConfig(queue), enqueuedPullRequests: entries.map(viewListEntry) };
}
