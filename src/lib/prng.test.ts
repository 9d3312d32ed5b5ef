import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Prng } from './prng.ts';

function draw(prng: Prng, count: number): number[] {
  return Array.from({ length: count }, () => prng.next());
}

describe('prng', () => {
  it('gives the same numbers for the same seed, and others for another', () => {
    assert.deepEqual(draw(new Prng(7), 50), draw(new Prng('7'), 50));
    const firsts = new Set(Array.from({ length: 2_000 }, (_, seed) => new Prng(seed).next()));
    assert.ok(firsts.size > 1_990);
  });

  it('spreads integers, chances and fractions evenly', () => {
    const prng = new Prng('even');
    const counts = new Map<number, number>();
    for (let round = 0; round < 60_000; round += 1) {
      const value = prng.integer(6);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    assert.deepEqual([...counts.keys()].toSorted(), [0, 1, 2, 3, 4, 5]);
    for (const count of counts.values()) assert.ok(Math.abs(count - 10_000) < 500, String(count));
    const hits = Array.from({ length: 10_000 }, () => prng.chance(0.1)).filter(Boolean).length;
    assert.ok(Math.abs(hits - 1_000) < 150, String(hits));
    assert.ok(draw(prng, 10_000).every((value) => value >= 0 && value < 1));
  });

  it('keeps to its bounds', () => {
    const prng = new Prng(1);
    const values = new Set(Array.from({ length: 200 }, () => prng.between(3, 5)));
    assert.deepEqual([...values].toSorted(), [3, 4, 5]);
    assert.deepEqual([prng.chance(0), prng.chance(1)], [false, true]);
    assert.deepEqual([prng.pick(['x']), prng.pick<string>([])], ['x', undefined]);
  });

  it('shuffles without losing anything or touching the list', () => {
    const list = Array.from({ length: 20 }, (_, index) => index);
    const shuffled = new Prng(1).shuffle(list);
    assert.notDeepEqual(shuffled, list);
    assert.deepEqual(
      shuffled.toSorted((a, b) => a - b),
      list,
    );
    const places = new Set(Array.from({ length: 200 }, (_, seed) => new Prng(seed).shuffle(list).indexOf(0)));
    assert.equal(places.size, 20);
  });

  it('has forks that do not disturb each other', () => {
    const [one, other] = [new Prng(3), new Prng(3)];
    const fork = one.fork();
    draw(fork, 10);
    other.fork();
    assert.deepEqual(draw(one, 10), draw(other, 10));
    assert.notDeepEqual(draw(new Prng(3).fork(), 5), draw(new Prng(3), 5));
  });
});
