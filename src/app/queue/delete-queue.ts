import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, type QueueRef } from '../core/find-queue.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';

// SPEC Q2
export async function deleteQueue(app: App, caller: Caller, input: QueueRef): Promise<Record<string, never> | Refusal> {
  for (;;) {
    const found = await findQueue(app, caller, input);
    if (isRefusal(found)) return found;
    const count = found.queue.entries.size;
    if (count > 0) {
      const what = count === 1 ? 'a pull request' : `${count} pull requests`;
      return refuse('QUEUE_NOT_EMPTY', `The queue still has ${what}. Cancel or merge every one of them first.`);
    }
    // A submission since the read above changes the version: read again.
    const outcome = await app.store.queues.delete(found.id, found.version, app.clock.now());
    if (outcome === 'stale') continue;
    app.queues.forget(found.id);
    app.directory.forget();
    return {};
  }
}
