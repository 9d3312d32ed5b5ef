import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { checkChanges, type QueueChanges } from './create-queue.ts';
import { findQueue, type QueueRef } from './find-queue.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { runEvent } from './run-event.ts';
import { type QueueConfigView, viewQueueConfig } from './views/queue-view.ts';

export interface UpdateQueue extends QueueRef, QueueChanges {}

export async function updateQueue(app: App, caller: Caller, input: UpdateQueue): Promise<QueueConfigView | Refusal> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { settings, state } = input;
  const problem = checkChanges(settings, found.repository);
  if (problem !== undefined) return problem;
  if (state === undefined && Object.keys(settings).length === 0) return viewQueueConfig(found.queue);
  const result = await runEvent(app, found, () => ({
    kind: 'queue_updated',
    at: app.clock.now(),
    actor: caller.name,
    settings,
    state,
  }));
  return isRefusal(result) ? result : viewQueueConfig(result.queue);
}
