import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  changesOf,
  compare,
  findFree,
  mostSlots,
  parseTried,
  settingsOf,
  type Tried,
  tellRunCost,
} from './simulation.ts';

const present: Tried = { mode: 'SINGLE', concurrency: 5, optimizationMode: 'OFF', runCost: 2 };
const parse = (text: string, of = present) => parseTried(new URLSearchParams(text), of);

describe('settings that are tried', () => {
  it('are the present ones where the address has none, or nonsense', () => {
    assert.deepEqual(parse(''), present);
    assert.deepEqual(parse('mode=other&slots=0&runCost=-1&adaptive=perhaps'), present);
    assert.deepEqual(parse('slots=2.5&runCost=1000'), present);
  });

  it('are those of the address', () => {
    const tried = parse('mode=parallel&slots=20&adaptive=yes&runCost=4');
    assert.deepEqual(tried, { mode: 'PARALLEL', concurrency: 20, optimizationMode: 'ADAPTIVE', runCost: 4 });
    assert.equal(parse('adaptive=no', { ...present, optimizationMode: 'ADAPTIVE' }).optimizationMode, 'OFF');
    const skipping = { ...present, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' };
    assert.equal(parse('adaptive=no', skipping).optimizationMode, 'BISECTION_SKIP_REDUNDANT_TESTS');
  });

  it('are sent as far as they differ, and the price of a run with ADAPTIVE alone', () => {
    assert.deepEqual(changesOf(present, parse('runCost=4')), []);
    const tried = parse('slots=8&adaptive=yes&runCost=4');
    const changes = changesOf(present, tried);
    assert.deepEqual(
      changes.map(({ name, from, to }) => `${name} ${from} ${to}`),
      ['concurrency 5 8', 'optimizationMode OFF ADAPTIVE', 'runCost 2 4'],
    );
    assert.deepEqual(settingsOf(changes, tried), { concurrency: 8, optimizationMode: 'ADAPTIVE', runCost: 4 });
  });

  it('are told with words and differences', () => {
    assert.deepEqual([2, 3].map(tellRunCost), ['2, balanced', '3']);
    assert.deepEqual([5, 40, 900].map(mostSlots), [50, 80, 1_000]);
    const said = [38, 100.5, 150, 310, 0].map((value) => compare(value, 100));
    assert.deepEqual(said, ['62% less', 'the same', '50% more', '3.1 times as much', '100% less']);
    assert.equal(compare(1, 0), 'the same');
  });

  it('have labels in the picture where there is room', () => {
    const points = [
      { x: 100, y: 50 },
      { x: 130, y: 55 },
      { x: 130, y: 90 },
      { x: 200, y: 50 },
    ];
    assert.deepEqual([...findFree(points)], [0, 2, 3]);
  });
});
