import type { Queue } from '../../src/engine/model/queue.ts';
import { listOf } from '../../src/lib/int-map.ts';

/** The queue as plain values, in an order that does not depend on its history. */
export function plainQueue(queue: Queue): unknown {
  return plainWithout(queue, {});
}

/** Two queues for a comparison, without the parts that both share. */
export function plainQueues(one: Queue, other: Queue): readonly [unknown, unknown] {
  return [plainWithout(one, other), plainWithout(other, one)];
}

function plainWithout(queue: Queue, other: Partial<Queue>): unknown {
  const { index: _, ...rest } = queue;
  const lists = {
    entries: () => listOf(queue.entries).sort((a, b) => a.prNumber - b.prNumber),
    candidates: () => listOf(queue.candidates).sort((a, b) => a.number - b.number),
    passes: () => listOf(queue.passes).sort((a, b) => a.number - b.number),
  };
  const parts = Object.entries(rest).filter(([name, part]) => part !== other[name as keyof Queue]);
  const plain = parts.map(([name, part]) => [name, lists[name as keyof typeof lists]?.() ?? part]);
  return JSON.parse(JSON.stringify(Object.fromEntries(plain)));
}
