import { valuesOf } from '../lib/int-map.ts';
import { type Entry, isAdmitted, type Queue } from './queue.ts';

/** Admitted entries in the order in which they are tested and landed. */
export function admittedInOrder(queue: Queue): Entry[] {
  return [...valuesOf(queue.entries)].filter(isAdmitted).sort(byAdmission);
}

/** Entries that wait to be admitted, in the order in which they would be. */
export function notReadyInOrder(queue: Queue): Entry[] {
  return [...valuesOf(queue.entries)].filter((entry) => !isAdmitted(entry)).sort(bySubmission);
}

function byAdmission(a: Entry, b: Entry): number {
  return a.priority.value - b.priority.value || (a.admission?.ordinal ?? 0) - (b.admission?.ordinal ?? 0);
}

function bySubmission(a: Entry, b: Entry): number {
  return a.priority.value - b.priority.value || a.submission - b.submission;
}
