import { walk } from '../lib/sorted-list.ts';
import { orderKey } from './entry-index.ts';
import { isInterruptible } from './interrupt.ts';
import { type Entry, findCandidate, findEntry, isAdmitted, type Queue } from './queue.ts';
import { entryOf, keep, type Work } from './work.ts';

/** An entry is set aside behind the one it conflicts with, for as long as that one is ahead of it. */
export function releaseSetAside(work: Work): void {
  for (const prNumber of walk(work.queue.index.aside)) {
    const entry = entryOf(work, prNumber);
    if (!isBehindItsConflict(work.queue, entry)) keep(work, { ...entry, conflictsWith: undefined });
  }
}

function isBehindItsConflict(queue: Queue, entry: Entry): boolean {
  const other = entry.conflictsWith === undefined ? undefined : findEntry(queue, entry.conflictsWith);
  // One that landed or left, and was perhaps submitted again, is not waited for.
  if (other === undefined || !isAdmitted(other) || other.conflictsWith === entry.prNumber) return false;
  if (orderKey(other) < orderKey(entry)) return true;
  // What is under test stays ahead, whatever its priority, unless an urgent entry may interrupt it.
  const own = other.candidate === undefined ? undefined : findCandidate(queue, other.candidate);
  if (own !== undefined) return entry.priority.value > 0 || !isInterruptible(queue, own);
  return other.bisection !== undefined && entry.priority.value > 0;
}
