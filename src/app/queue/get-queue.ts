import { listRecentAlarms } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, type QueueRef } from '../core/find-queue.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { type QueueView, viewQueue } from './queue-view.ts';

export async function getQueue(app: App, caller: Caller, input: QueueRef): Promise<QueueView | Refusal> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const [alarms = []] = await listRecentAlarms(app, [found.id]);
  return viewQueue(found.queue, alarms);
}
