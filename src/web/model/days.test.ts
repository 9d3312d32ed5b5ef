import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import { barsOf, formatDay, pathsOf, sentenceOfDays } from './days.ts';

const DAYS = { first_day: '2026-08-30', runs: [0, 1, 1000, 10, 2], failures: [0, 1, 1, 0, 1] };
const PICTURE = { width: 49, height: 20, gap: 1, least: 2 };

describe('the days of a test', () => {
  it('show every failure, however small its share of the day is', () => {
    const bars = barsOf(DAYS, PICTURE);
    assert.deepEqual(pluck(bars, 'failed', 'passed'), [
      [0, 0],
      [2, 0],
      [2, 18],
      [0, 2],
      [2, 2],
    ]);
    assert.deepEqual([bars[0]?.x, bars[4]?.x, bars[4]?.width], [0, 40, 9]);
  });

  it('are three shapes, with a mark where nothing ran', () => {
    const { none, failed, passed } = pathsOf(DAYS, PICTURE);
    assert.equal(none, 'M0 20h9v-1h-9z');
    assert.deepEqual([failed.split('M').length - 1, passed.split('M').length - 1], [3, 3]);
    assert.deepEqual(pathsOf({ first_day: '2026-08-30', runs: [], failures: [] }, PICTURE).failed, '');
  });

  it('are told as a sentence', () => {
    assert.equal(sentenceOfDays(DAYS), '3 of 1013 runs failed in the last 5 days, on 3 days');
    assert.equal(sentenceOfDays({ ...DAYS, runs: [1, 0], failures: [0, 0] }), '0 of 1 run failed in the last 2 days');
    assert.equal(sentenceOfDays({ ...DAYS, runs: [0, 0], failures: [0, 0] }), 'No run in the last 2 days');
    assert.equal(formatDay(DAYS, 2), '1 Sept');
  });
});
