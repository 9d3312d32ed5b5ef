import type { Queue } from '../../src/engine/queue.ts';
import { valuesOf } from '../../src/lib/int-map.ts';

/** The queue as plain values, in an order that does not depend on its history. */
export function plainQueue(queue: Queue): unknown {
  const byNumber = (a: { number: number }, b: { number: number }) => a.number - b.number;
  return JSON.parse(
    JSON.stringify({
      ...queue,
      entries: [...valuesOf(queue.entries)].sort((a, b) => a.prNumber - b.prNumber),
      candidates: [...valuesOf(queue.candidates)].sort(byNumber),
      passes: [...valuesOf(queue.passes)].sort(byNumber),
      index: undefined,
    }),
  );
}
