import { Footprint, targetsOf } from '../model/footprint.ts';
import { conflictOf } from '../model/place.ts';
import { orderKey } from '../model/priority.ts';
import type { PrNumber } from '../model/pull-request.ts';
import { type Entry, findEntry, type Queue } from '../model/queue.ts';
import type { Search } from '../model/search.ts';

/** Tells which entries were ahead of this one when the search began. */
export function aheadTest(
  queue: Queue,
  { admissions }: Pick<Search, 'admissions'>,
  entry: Entry,
): (other: Entry) => boolean {
  const key = orderKey(entry);
  const footprint = new Footprint().add(targetsOf(queue, entry));
  return (other) =>
    orderKey(other) < key &&
    (other.admission?.ordinal ?? 0) <= admissions &&
    footprint.overlaps(targetsOf(queue, other)) &&
    !isAsideFor(queue, other, entry);
}

/** It was set aside for a conflict with this entry, directly or not, and waits for the entry's end. */
function isAsideFor(queue: Queue, other: Entry, { prNumber }: Entry): boolean {
  const seen = new Set<PrNumber>();
  for (let next = conflictOf(other); next !== undefined && !seen.has(next); ) {
    if (next === prNumber) return true;
    seen.add(next);
    const ahead = findEntry(queue, next);
    next = ahead && conflictOf(ahead);
  }
  return false;
}
