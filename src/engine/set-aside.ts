import { walk } from '../lib/sorted-list.ts';
import { orderKey } from './entry-index.ts';
import { isInterruptible } from './interrupt.ts';
import { type Entry, findCandidate, findEntry, isAdmitted, type Queue } from './queue.ts';
import { entryOf, keep, type Work } from './work.ts';

/** Puts an entry back into the line once the entry it conflicts with is no longer ahead of it. */
// SPEC C33
export function releaseSetAside(work: Work): void {
  for (const prNumber of walk(work.queue.index.aside)) {
    const entry = entryOf(work, prNumber);
    if (!isBehindItsConflict(work.queue, entry)) keep(work, { ...entry, conflictsWith: undefined });
  }
}

function isBehindItsConflict(queue: Queue, entry: Entry): boolean {
  const other = entry.conflictsWith === undefined ? undefined : findEntry(queue, entry.conflictsWith);
  // An entry that landed or left is not waited for, even if it was submitted again.
  if (other === undefined || !isAdmitted(other) || other.conflictsWith === entry.prNumber) return false;
  if (orderKey(other) < orderKey(entry)) return true;
  // An entry under test stays ahead whatever its priority, unless an urgent entry may interrupt it.
  const own = other.candidate === undefined ? undefined : findCandidate(queue, other.candidate);
  if (own !== undefined) return entry.priority.value > 0 || !isInterruptible(queue, own);
  return other.bisection !== undefined && entry.priority.value > 0;
}
