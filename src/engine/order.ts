import { valuesOf } from '../lib/int-map.ts';
import { orderKey } from './entry-index.ts';
import { type Entry, isAdmitted, type Queue } from './queue.ts';
import { lineOf, unlanded } from './roster.ts';

/** Admitted entries in the order in which they are tested and land: first those in the line's candidates. */
export function admittedInOrder(queue: Queue): Entry[] {
  const inLine = lineOf(queue).flatMap((candidate) => unlanded(queue, candidate.members));
  const seen = new Set(inLine);
  const others = [...valuesOf(queue.entries)].filter((entry) => isAdmitted(entry) && !seen.has(entry));
  return [...inLine, ...others.sort(byOrderKey)];
}

/** Entries that wait to be admitted, in the order in which they would be. */
export function notReadyInOrder(queue: Queue): Entry[] {
  return [...valuesOf(queue.entries)].filter((entry) => !isAdmitted(entry)).sort(byOrderKey);
}

/** Every live entry: those under test, passed or held, then pending ones, then those not ready. */
export function entriesInOrder(queue: Queue): Entry[] {
  const admitted = admittedInOrder(queue);
  return [
    ...admitted.filter(({ state }) => state !== 'PENDING'),
    ...admitted.filter(({ state }) => state === 'PENDING'),
    ...notReadyInOrder(queue),
  ];
}

function byOrderKey(a: Entry, b: Entry): number {
  return orderKey(a) - orderKey(b);
}
