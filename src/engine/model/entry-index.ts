import { valuesOf } from '../../lib/int-map.ts';
import { insertSorted, removeSorted } from '../../lib/sorted-list.ts';
import { orderKey } from './priority.ts';
import { EMPTY_INDEX, type Entry, type Index, type Queue } from './queue.ts';
import { isReady, readinessOf } from './readiness.ts';
import type { QueueMode } from './settings.ts';

interface Place {
  readonly list: 'pending' | 'aside' | 'unready' | 'ready';
  readonly key: number;
}

/** Updates the index for one entry that was added (no `before`), replaced or removed (no `after`). */
export function reindex(queue: Queue, before: Entry | undefined, after: Entry | undefined): Index {
  let { index } = queue;
  const was = before && placeOf(queue, before);
  const is = after && placeOf(queue, after);
  const admitted = index.admitted + Number(after?.admission !== undefined) - Number(before?.admission !== undefined);
  const cleared = index.cleared + Number(isCleared(is, after)) - Number(isCleared(was, before));
  const ruled = index.ruled + Number(isRuled(after)) - Number(isRuled(before));
  if (admitted !== index.admitted || cleared !== index.cleared || ruled !== index.ruled)
    index = { ...index, admitted, cleared, ruled };
  if (was?.list === is?.list && was?.key === is?.key) return index;
  if (was !== undefined) index = { ...index, [was.list]: removeSorted(index[was.list], was.key) };
  if (is !== undefined && after !== undefined) {
    index = { ...index, [is.list]: insertSorted(index[is.list], is.key, after.prNumber) };
  }
  return index;
}

function isRuled(entry: Entry | undefined): boolean {
  return entry?.lanesAsked !== undefined && (entry.targets === undefined || entry.targets.from === 'sluice');
}

function isCleared(place: Place | undefined, entry: Entry | undefined): boolean {
  return place?.list === 'pending' && entry?.clearedBySearch !== undefined;
}

/** Builds the index from scratch, after loading a queue or changing its mode. */
export function buildIndex(queue: Queue): Index {
  let indexed = { ...queue, index: EMPTY_INDEX };
  for (const entry of valuesOf(queue.entries)) indexed = { ...indexed, index: reindex(indexed, undefined, entry) };
  return indexed.index;
}

function placeOf(queue: Queue, entry: Entry): Place | undefined {
  const { kind } = entry.place;
  if (kind === 'line' || kind === 'search') return undefined;
  if (entry.admission === undefined) {
    if (isReady(readinessOf(queue, entry))) return { list: 'ready', key: orderKey(entry) };
    return { list: 'unready', key: entry.submission };
  }
  return { list: kind === 'waiting' ? 'pending' : 'aside', key: orderKey(entry) };
}

/** The only place that changes the mode. It counts the entries that are older than a switch to PARALLEL. */
// SPEC Q7
export function withMode(queue: Queue, mode: QueueMode): Queue {
  const submissionsBeforeParallel = mode === 'PARALLEL' ? queue.submissions : 0;
  const switched = { ...queue, settings: { ...queue.settings, mode }, submissionsBeforeParallel };
  return { ...switched, index: buildIndex(switched) };
}
