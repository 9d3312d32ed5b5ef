import { HIGH } from '../model/priority.ts';
import { type Entry, findEntry } from '../model/queue.ts';
import { entriesAbove, entriesBelow } from '../model/stack.ts';
import { keep, type Work } from '../model/work.ts';

/**
 * The priority of an entry counts for those below it, and none above it is better. An entry on others is never urgent:
 * it would interrupt for entries that nobody called urgent.
 */
// SPEC O33
export function alignStack(work: Work, { prNumber }: Pick<Entry, 'prNumber'>): void {
  const entry = findEntry(work.queue, prNumber);
  if (entry === undefined) return;
  const isOnOthers = entriesBelow(work.queue, entry).length > 0;
  if (isOnOthers && entry.priority.value === 0) keep(work, { ...entry, priority: HIGH });
  raiseBelow(work, findEntry(work.queue, prNumber) ?? entry);
  lowerAbove(work, findEntry(work.queue, prNumber) ?? entry);
}

function raiseBelow(work: Work, { priority, ...entry }: Entry): void {
  for (const other of entriesBelow(work.queue, { priority, ...entry })) {
    if (other.priority.value <= priority.value) continue;
    const raised = { ...other, priority };
    keep(work, raised);
    raiseBelow(work, raised);
  }
}

function lowerAbove(work: Work, { priority, prNumber }: Entry): void {
  for (const other of entriesAbove(work.queue, prNumber)) {
    if (other.priority.value >= priority.value) continue;
    const lowered = { ...other, priority };
    keep(work, lowered);
    lowerAbove(work, lowered);
  }
}
