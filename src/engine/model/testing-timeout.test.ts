import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOTHING_LEARNED } from './learned.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { automaticTimeout, testingTimeout } from './testing-timeout.ts';

/** `20x300 2x60`: durations of passed runs in seconds. */
function after(runs: string) {
  const passSeconds = runs.split(' ').flatMap((each) => {
    const [times, seconds] = each.split('x').map(Number);
    return new Array<number>(times ?? 0).fill(seconds ?? 0);
  });
  return { ...NOTHING_LEARNED, passSeconds };
}

describe('the automatic testing timeout', () => {
  for (const [runs, minutes, why] of [
    ['19x300', undefined, 'too few runs'],
    ['20x300', 20, 'four times as long'],
    ['20x301', 21, 'rounded up'],
    ['1x9000 19x300', 20, 'the slowest of 20 is above the percentile'],
    ['2x9000 18x300', 600, 'the second slowest of 20 is the percentile'],
    ['38x300 2x9000', 20, 'the third slowest of 40 is the percentile'],
    ['20x0', 10, 'the least'],
    ['20x9999999', 10_080, 'the most that can be set'],
  ] as const) {
    it(`is ${minutes} minutes after ${runs} seconds: ${why} [V77]`, () => {
      assert.equal(automaticTimeout(after(runs)), minutes);
    });
  }

  it('holds where nothing is set, and is 300 minutes at first [V77]', () => {
    const minutes = (testingTimeoutMinutes: number | null, runs: string) =>
      testingTimeout({ settings: { ...DEFAULT_SETTINGS, testingTimeoutMinutes }, learned: after(runs) });
    assert.deepEqual([minutes(null, '20x300'), minutes(null, '19x300')], [20, 300]);
    assert.deepEqual([minutes(45, '20x300'), minutes(300, '20x300'), minutes(0, '20x300')], [45, 300, 0]);
  });
});
