import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Prng } from '../../src/lib/prng.ts';
import { TaskHeap } from '../../src/lib/task-heap.ts';
import { SimWorld } from './sim-world.ts';

const MINUTE_MS = 60_000;

describe('task heap', () => {
  it('gives tasks back by time, then by chance', () => {
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
});

describe('simulated world', () => {
  it('runs tasks in time, each with all that follows from it', async () => {
    const world = new SimWorld({ seed: 1, jitterMs: 0 });
    const start = world.now;
    const log: string[] = [];
    world.schedule(2_000, () => log.push('later'));
    const cancel = world.schedule(1_500, () => log.push('never'));
    world.schedule(1_000, () => {
      void (async () => {
        for (let round = 0; round < 20; round += 1) await undefined;
        log.push(`at ${world.now - start}`);
        await world.pause(500);
        log.push(`at ${world.now - start}`);
      })();
    });
    world.observe(() => log.push('.'));
    cancel();
    await world.runFor(MINUTE_MS);
    assert.deepEqual(log, ['at 1000', '.', 'at 1500', '.', 'later', '.']);
    assert.deepEqual([world.now - start, world.tasks], [MINUTE_MS, 3]);
  });

  it('stops when something comes true, and when it goes round in circles', async () => {
    const world = new SimWorld({ seed: 1, maxTasks: 100 });
    let count = 0;
    const again = () => {
      count += 1;
      world.schedule(10, again);
    };
    again();
    assert.equal(await world.runUntilTrue(() => count === 5, world.now + MINUTE_MS), true);
    assert.equal(count, 5);
    assert.equal(await world.runUntilTrue(() => false, world.now + 100), false);
    await assert.rejects(world.runFor(MINUTE_MS), /seed 1: more than 100 tasks/);
  });

  it('gives each process a clock that dies with it', async () => {
    const world = new SimWorld({ seed: 1 });
    const crashed: string[] = [];
    const process = world.spawn({ name: 'one', skewMs: 5_000, onCrash: ({ name }) => crashed.push(name) });
    const log: string[] = [];
    assert.equal(process.clock.now(), world.now + 5_000);
    process.clock.after(10, () => log.push('before'));
    process.clock.after(1_000, () => log.push('after'));
    world.schedule(500, () => process.crash());
    await world.runFor(MINUTE_MS);
    process.clock.after(0, () => log.push('dead'));
    await world.runFor(MINUTE_MS);
    assert.deepEqual([log, crashed, process.isAlive], [['before'], ['one'], false]);
  });
});
