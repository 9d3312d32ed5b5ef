import { assert } from '../lib/assert.ts';
import type { QueueCommit } from './queues.ts';

/** What every adapter refuses before it writes anything: a commit that contradicts itself is a bug of its maker. */
export function checkCommit(commit: QueueCommit): void {
  const { queueId, events, entries, transitions, impactedTargets } = commit;
  assert(events.length > 0, 'a commit stores at least one event');
  events.forEach((event, index) => {
    assert(event.version === commit.expectedVersion + index + 1, 'events are numbered from the expected version on');
  });
  for (const row of [entries, transitions, impactedTargets].flat()) {
    assert(row.queueId === queueId, `a commit of queue ${queueId} has a row of queue ${row.queueId}`);
  }
}
