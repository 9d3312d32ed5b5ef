import { valuesOf } from '../lib/int-map.ts';
import { orderKey } from './entry-index.ts';
import { type Entry, isAdmitted, type Queue } from './queue.ts';
import { lineOf, unlanded } from './roster.ts';

/** The admitted entries in the order in which they are tested and land. Those in candidates of the line come first. */
// SPEC O1
export function admittedInOrder(queue: Queue): Entry[] {
  const inLine = lineOf(queue).flatMap((candidate) => unlanded(queue, candidate.members));
  const seen = new Set(inLine);
  const others = [...valuesOf(queue.entries)].filter((entry) => isAdmitted(entry) && !seen.has(entry));
  return [...inLine, ...others.sort(byOrderKey)];
}

/** The entries that wait for admission, in the order in which they would be admitted. */
export function notReadyInOrder(queue: Queue): Entry[] {
  return [...valuesOf(queue.entries)].filter((entry) => !isAdmitted(entry)).sort(byOrderKey);
}

/** All live entries: those under test, passed or held, then pending ones, then those not ready. */
// SPEC Q8
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
