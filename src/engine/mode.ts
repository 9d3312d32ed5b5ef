import { buildIndex } from './entry-index.ts';
import type { Queue } from './queue.ts';
import type { QueueMode } from './settings.ts';

/** The only place that changes the mode. It counts the entries that are older than a switch to PARALLEL. */
// SPEC Q7
export function withMode(queue: Queue, mode: QueueMode): Queue {
  const submissionsBeforeParallel = mode === 'PARALLEL' ? queue.submissions : 0;
  const switched = { ...queue, settings: { ...queue.settings, mode }, submissionsBeforeParallel };
  return { ...switched, index: buildIndex(switched) };
}
