import { Fault } from '../../lib/fault.ts';
import type { App } from './app.ts';
import { type FoundQueue, formatRef } from './find-queue.ts';
import type { MakeEvent, RunResult } from './queue-host.ts';
import { type Answer, refuse } from './refusal.ts';

/** Runs an event through the queue. A no of the engine and a deleted queue become a refusal. */
export async function runEvent(app: App, found: FoundQueue, makeEvent: MakeEvent): Answer<RunResult> {
  const result = await app.queues.run(found.id, makeEvent);
  if (result === undefined) {
    const detail = `The queue for branch "${found.queue.branch}" of ${formatRef(found.repository)} was deleted.`;
    return refuse('QUEUE_NOT_FOUND', detail);
  }
  if (result.outcome.kind === 'parked') {
    const sentence = `The queue stopped itself instead of doing this: ${result.outcome.detail}. An operator must look at it.`;
    throw new Fault('QUEUE_PARKED', sentence);
  }
  return result.outcome.kind === 'refused' ? refuse(result.outcome.code, result.outcome.detail) : result;
}
