import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Semaphore } from './semaphore.ts';

describe('a semaphore', () => {
  it('runs no more tasks at once than it has slots, in order', async () => {
    const slots = new Semaphore(2);
    const begun: number[] = [];
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const runs = gates.map((gate, index) =>
      slots.run(() => {
        begun.push(index);
        return gate.promise;
      }),
    );
    await turn();
    assert.deepEqual(begun, [0, 1]);
    assert.equal(slots.isCrowded, true);
    gates[1]?.resolve();
    await turn();
    assert.deepEqual(begun, [0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(runs);
    assert.equal(slots.isIdle, true);
  });

  it('passes the slot of a failed task on', async () => {
    const slots = new Semaphore(1);
    await assert.rejects(
      slots.run(() => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await slots.run(async () => 'yes'), 'yes');
  });

  it('gives no slot to a request that stopped waiting', async () => {
    const slots = new Semaphore(1);
    const release = await slots.take();
    const stop = new AbortController();
    const waiting = slots.take(undefined, stop.signal);
    assert.equal(slots.waiting, 1);
    stop.abort();
    assert.equal(await waiting, undefined);
    assert.equal(await slots.take(undefined, stop.signal), undefined);
    release?.();
    release?.();
    assert.notEqual(await slots.take(), undefined);
    assert.equal(slots.waiting, 0);
  });
});
