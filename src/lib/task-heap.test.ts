import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Prng } from './prng.ts';
import { TaskHeap } from './task-heap.ts';

it('a heap of tasks gives them back by time, then by chance', () => {
  const random = new Prng(1);
  const heap = new TaskHeap();
  const keys: number[] = [];
  for (let round = 0; round < 2_000; round += 1) {
    heap.push({ at: random.integer(50), tie: random.next(), act: () => undefined, isCalledOff: false });
    if (round % 3 === 0) heap.pop();
  }
  for (let task = heap.pop(); task !== undefined; task = heap.pop()) keys.push(task.at + task.tie);
  assert.deepEqual(
    keys,
    keys.toSorted((a, b) => a - b),
  );
  assert.equal(heap.size, 0);
});
