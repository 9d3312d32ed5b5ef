import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from './local-runner.ts';

const NEVER = new AbortController().signal;

/** Takes turns for these names and records the order. */
function takeAll(turns: ReturnType<typeof createTurns>, names: readonly string[]) {
  const begun: string[] = [];
  const givers: (() => void)[] = [];
  for (const name of names) {
    void turns.take({ share: name, rank: 0 }, NEVER).then((giveBack) => {
      begun.push(name);
      if (giveBack !== undefined) givers.push(giveBack);
    });
  }
  return { begun, givers };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the pool of turns', () => {
  it('gives out no more than there are, in order [R6]', async () => {
    const { begun, givers } = takeAll(createTurns(2), ['a', 'a', 'a', 'a']);
    await settle();
    assert.equal(begun.length, 2);
    givers[0]?.();
    await settle();
    assert.equal(begun.length, 3);
  });

  it('the repository with the fewest jobs goes first, then the one that had none for longest [R6]', async () => {
    const { begun, givers } = takeAll(createTurns(2), ['busy', 'busy', 'busy', 'busy', 'small', 'other']);
    await settle();
    givers[0]?.();
    await settle();
    assert.deepEqual(begun, ['busy', 'busy', 'small']);
    givers[1]?.();
    await settle();
    assert.deepEqual(begun, ['busy', 'busy', 'small', 'other']);
    givers[2]?.();
    await settle();
    assert.deepEqual(begun, ['busy', 'busy', 'small', 'other', 'busy']);
  });

  it('with a single turn, those who wait take it by turns [R6]', async () => {
    const { begun, givers } = takeAll(createTurns(1), ['busy', 'busy', 'busy', 'busy', 'small', 'small']);
    for (let index = 0; index < 6; index += 1) {
      await settle();
      givers[index]?.();
    }
    assert.deepEqual(begun, ['busy', 'small', 'busy', 'small', 'busy', 'busy']);
  });

  it('within a share the lowest rank goes first [R6]', async () => {
    const turns = createTurns(1);
    const begun: number[] = [];
    for (const rank of [100, 100, 0, 50]) {
      void turns.take({ share: 'a', rank }, NEVER).then((giveBack) => {
        begun.push(rank);
        setImmediate(() => giveBack?.());
      });
    }
    for (let turn = 0; turn < 10; turn += 1) await settle();
    assert.deepEqual(begun, [100, 0, 50, 100]);
  });

  it('a turn given back twice is one turn [R6]', async () => {
    const { begun, givers } = takeAll(createTurns(1), ['a', 'b', 'c']);
    await settle();
    givers[0]?.();
    givers[0]?.();
    await settle();
    assert.deepEqual(begun, ['a', 'b']);
  });

  it('is crowded when as many wait as there are turns [R36]', async () => {
    const turns = createTurns(2);
    const { givers } = takeAll(turns, ['a', 'a', 'a']);
    await settle();
    assert.equal(turns.isCrowded, false);
    takeAll(turns, ['b']);
    assert.equal(turns.isCrowded, true);
    givers[0]?.();
    assert.equal(turns.isCrowded, false);
  });

  it('a job that stops waiting gets no slot, and keeps no other from one [R6]', async () => {
    const turns = createTurns(1);
    const giveBack = await turns.take({ share: 'a', rank: 0 }, NEVER);
    const stop = new AbortController();
    const stopped = turns.take({ share: 'b', rank: 0 }, stop.signal);
    const next = turns.take({ share: 'c', rank: 0 }, NEVER);
    stop.abort();
    assert.equal(await stopped, undefined);
    giveBack?.();
    assert.ok(await next);
    assert.equal(await turns.take({ share: 'd', rank: 0 }, AbortSignal.abort()), undefined);
  });

  it('a stop after the turn has begun changes nothing [R6]', async () => {
    const turns = createTurns(1);
    const stop = new AbortController();
    const giveBack = await turns.take({ share: 'a', rank: 0 }, stop.signal);
    const waiting = turns.take({ share: 'b', rank: 0 }, NEVER);
    stop.abort();
    giveBack?.();
    assert.ok(await waiting);
  });
});
