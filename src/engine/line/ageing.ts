import type { Instant } from '../../lib/clock.ts';
import { walk } from '../../lib/sorted-list.ts';
import { levelsAbove } from '../model/priority.ts';
import { type Entry, findEntry, type Queue } from '../model/queue.ts';
import { keep, type Work } from '../model/work.ts';

/** Raises entries by how long they have waited, so that a low priority does not starve. */
// SPEC O5
export function raiseWaiting(work: Work): void {
  if (stepOf(work.queue) === 0 && stepOf(work.before) === 0) return;
  for (const entry of waiting(work.queue)) {
    const raised = levelOf(work.queue, entry, work.at);
    if (raised !== entry.raised) keep(work, { ...entry, raised });
  }
}

/** When the next entry reaches its next level. */
export function nextRaiseAt(queue: Queue, now: Instant): Instant[] {
  const stepMs = stepOf(queue);
  if (stepMs === 0) return [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const entry of waiting(queue)) {
    const level = levelOf(queue, entry, now);
    if (level >= levelsAbove(entry.priority.value)) continue;
    earliest = Math.min(earliest, waitsSince(entry) + (level + 1) * stepMs);
  }
  return Number.isFinite(earliest) ? [earliest] : [];
}

function* waiting(queue: Queue): Generator<Entry> {
  for (const list of [queue.index.pending, queue.index.aside, queue.index.ready]) {
    for (const prNumber of walk(list)) {
      const entry = findEntry(queue, prNumber);
      if (entry !== undefined) yield entry;
    }
  }
}

function levelOf(queue: Queue, entry: Entry, now: Instant): number {
  const stepMs = stepOf(queue);
  if (stepMs === 0) return 0;
  const steps = Math.max(0, Math.floor((now - waitsSince(entry)) / stepMs));
  return Math.min(steps, levelsAbove(entry.priority.value));
}

function stepOf({ settings }: Queue): number {
  return settings.priorityAgeingHours * 3_600_000;
}

function waitsSince({ admission, submittedAt }: Entry): Instant {
  return admission?.at ?? submittedAt;
}
