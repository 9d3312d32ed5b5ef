import { listRecentAlarms } from './alarms.ts';
import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findQueue, type QueueRef } from './find-queue.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { type QueueView, viewQueue } from './views/queue-view.ts';

export async function getQueue(app: App, caller: Caller, input: QueueRef): Promise<QueueView | Refusal> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const [alarms = []] = await listRecentAlarms(app, [found.id]);
  return viewQueue(found.queue, alarms);
}
