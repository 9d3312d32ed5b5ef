import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock, type Timing } from './clock.ts';
import type { Log } from './log.ts';
import { PeriodicTask, type Rounds } from './periodic.ts';

/** A clock whose timers fire when the test says so. */
function setup(rounds: Partial<Rounds> & Pick<Rounds, 'round'>) {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const warnings: string[] = [];
  const clock: Timing = {
    now: systemClock.now,
    after: (ms, act) => {
      const timer = { ms, act };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
    },
  };
  const log = { warn: (_: object, text: string) => warnings.push(text) } as unknown as Log;
  const task = new PeriodicTask({ clock, log }, { firstMs: 10, everyMs: 100, failure: 'it failed', ...rounds });
  const fire = async () => {
    timers.shift()?.act();
    await turn();
  };
  return { task, fire, warnings, waits: () => timers.map(({ ms }) => ms) };
}

describe('a periodic task', () => {
  it('runs one round after another, and a failed one does not end it', async () => {
    let count = 0;
    const round = async () => {
      count += 1;
      if (count === 1) throw new Error('no');
    };
    const { task, fire, warnings, waits } = setup({ round });
    task.start();
    assert.deepEqual(waits(), [10]);
    await fire();
    assert.deepEqual(waits(), [100]);
    await fire();
    assert.equal(count, 2);
    assert.deepEqual(warnings, ['it failed']);
  });

  it('runs at once when it is woken, and again when it is woken during a round', async () => {
    let count = 0;
    const round = async () => {
      count += 1;
      if (count === 1) task.wake();
    };
    const { task, waits } = setup({ round, everyMs: async () => 7 });
    task.wake();
    assert.deepEqual(waits(), []);
    task.start();
    task.wake();
    await turn();
    assert.equal(count, 2);
    assert.deepEqual(waits(), [7]);
  });

  it('gathers the wakes that follow a round, and rests when there were none', async () => {
    let count = 0;
    const round = async () => {
      count += 1;
    };
    const { task, fire, waits } = setup({ round, gatherMs: 5 });
    task.start();
    task.wake();
    await turn();
    assert.deepEqual([count, waits()], [1, [5]]);
    task.wake();
    task.wake();
    await turn();
    assert.deepEqual([count, waits()], [1, [5]]);
    await fire();
    assert.deepEqual([count, waits()], [2, [5]]);
    await fire();
    assert.deepEqual([count, waits()], [2, [100]]);
    task.wake();
    await turn();
    assert.equal(count, 3);
    await task.stop();
    assert.deepEqual(waits(), []);
  });

  it('waits for the round under way when it stops, and begins no other', async () => {
    const gate = Promise.withResolvers<void>();
    let isEnded = false;
    const round = async (isStopped: () => boolean) => {
      await gate.promise;
      isEnded = isStopped();
      throw new Error('the store is closed');
    };
    const { task, fire, waits, warnings } = setup({ round });
    task.start();
    await fire();
    task.wake();
    const stopped = task.stop();
    gate.resolve();
    await stopped;
    task.wake();
    assert.equal(isEnded, true);
    assert.deepEqual(waits(), []);
    assert.deepEqual(warnings, []);
  });
});
