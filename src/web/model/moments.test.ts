import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nearest, step } from './moments.ts';

const instants = fc.uniqueArray(fc.nat({ max: 100 }), { minLength: 1 }).map((list) => list.sort((a, b) => a - b));

describe('the moments of a queue', () => {
  it('are found by the instant that is shown', () => {
    fc.assert(
      fc.property(instants, fc.nat({ max: 110 }), (list, at) => {
        const expected = list.filter((instant) => instant <= at).length - 1;
        assert.equal(nearest(list, at), Math.max(0, expected));
      }),
    );
    assert.equal(nearest([], 5), 0);
  });

  it('are walked without a gap in both directions', () => {
    fc.assert(
      fc.property(instants, (list) => {
        const walked = [list[0] as number];
        for (let at = step(list, walked[0] as number, 1); at !== undefined; at = step(list, at, 1)) walked.push(at);
        assert.deepEqual(walked, list);
        const back = [list.at(-1) as number];
        for (let at = step(list, back[0] as number, -1); at !== undefined; at = step(list, at, -1)) back.push(at);
        assert.deepEqual(back.reverse(), list);
      }),
    );
  });
});
