import type { Queue } from '../../engine/queue.ts';
import { nameOf, type RequiredStatus } from '../../engine/required-status.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, type QueueRef } from '../core/find-queue.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { runEvent } from '../core/run-event.ts';
import { checkChanges, type QueueChanges } from './create-queue.ts';
import { type QueueConfigView, viewQueueConfig } from './queue-view.ts';

export interface UpdateQueue extends QueueRef, QueueChanges {
  /**
   * For clients that do not know every setting: an unset setting that follows another one keeps its present value, and
   * a
   * required check that is named without its app keeps that app.
   */
  readonly keepsUnnamedSettings: boolean;
}

// SPEC S4
export async function updateQueue(app: App, caller: Caller, input: UpdateQueue): Promise<QueueConfigView | Refusal> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { settings, state } = input;
  const problem = checkChanges(settings, found.repository);
  if (problem !== undefined) return problem;
  if (state === undefined && Object.keys(settings).length === 0) return viewQueueConfig(found.queue);
  const result = await runEvent(app, found, (queue) => ({
    kind: 'queue_updated',
    at: app.clock.now(),
    actor: caller.name,
    settings: input.keepsUnnamedSettings ? withReading(queue, settings) : settings,
    state,
  }));
  if (isRefusal(result)) return result;
  // Setting the queue to RUNNING also retries parked effects.
  if (state === 'RUNNING') await app.store.queues.unparkEffects(found.id, app.clock.now());
  return viewQueueConfig(result.queue);
}

// SPEC H27
function withReading({ settings: present }: Queue, changes: Partial<QueueSettings>): Partial<QueueSettings> {
  const reads = changes.concurrency !== undefined && changes.bisectionConcurrency === undefined;
  return {
    ...changes,
    ...(reads && present.bisectionConcurrency === null ? { bisectionConcurrency: present.concurrency } : {}),
    ...(changes.requiredStatuses ? { requiredStatuses: withApps(present, changes.requiredStatuses) } : {}),
  };
}

function withApps({ requiredStatuses }: QueueSettings, named: readonly RequiredStatus[]): readonly RequiredStatus[] {
  const known = (name: RequiredStatus) => requiredStatuses?.find((status) => nameOf(status) === name);
  return named.map((status) => known(status) ?? status);
}
