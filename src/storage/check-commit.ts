import { assert } from '../lib/assert.ts';
import type { Instant } from '../lib/clock.ts';
import type { EventRow, QueueCommit } from './queues.ts';

/** Checked by every adapter before it writes: a commit that contradicts itself is a bug of the caller. */
export function checkCommit(commit: QueueCommit): void {
  const { queueId, events, entries, candidates, transitions, feed = [], effects, impactedTargets } = commit;
  assert(events.length > 0, 'a commit stores at least one event');
  events.forEach((event, index) => {
    assert(event.version === commit.expectedVersion + index + 1, 'events are numbered from the expected version on');
  });
  for (const row of [entries, candidates, transitions, feed, impactedTargets].flat()) {
    assert(row.queueId === queueId, `a commit of queue ${queueId} has a row of queue ${row.queueId}`);
  }
  assert(isDistinct(candidates.map(({ number }) => number)), 'a commit gives each candidate once');
  assert(isDistinct(effects.map(({ id }) => id)), 'a commit gives each effect once');
}

function isDistinct(keys: readonly unknown[]): boolean {
  return keys.length < 2 || new Set(keys).size === keys.length;
}

/** The time of a commit, as far as its rows can tell. */
export function newestInstant(events: readonly EventRow[]): Instant {
  return events.reduce((newest, { at }) => Math.max(newest, at), Number.MIN_SAFE_INTEGER);
}
