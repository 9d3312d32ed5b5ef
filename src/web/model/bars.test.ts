import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import { drawBars, roundUp } from './bars.ts';

describe('bars', () => {
  it('stand on the ground, and each part on the one before', () => {
    const bars = [{ key: 'a', parts: [part('landed', 30), part('removed', 10)] }];
    const [bar] = drawBars(bars, { width: 100, height: 80 }, 40);
    assert.deepEqual(pluck(bar?.parts, 'y', 'height'), [
      [20, 60],
      [0, 20],
    ]);
  });

  it('show even one of many, and nothing as nothing', () => {
    const bars = [{ key: 'a', parts: [part('landed', 1), part('removed', 0)] }];
    const [bar] = drawBars(bars, { width: 100, height: 80 }, 10_000);
    assert.deepEqual(pluck(bar?.parts, 'height'), [1, 0]);
  });

  it('end at a round number', () => {
    assert.deepEqual([0, 0.3, 1, 3, 7, 12, 41, 99, 100, 101].map(roundUp), [1, 0.5, 1, 5, 10, 20, 50, 100, 100, 200]);
  });
});

function part(name: string, value: number) {
  return { name, value, tone: 'good' };
}
