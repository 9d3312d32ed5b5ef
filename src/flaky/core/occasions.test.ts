import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { aMonitor, anUpload, aRun, FlakyWorld, MINUTE, START } from '../../../test/helpers/test-history.ts';
import { addSlice, nextSlice, pruneSlices, type SliceSet } from './occasions.ts';

const someSlices = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 40 });

describe('a set of slices', () => {
  it('holds added slices in any order, and finds the next one', () => {
    fc.assert(
      fc.property(someSlices, fc.integer({ min: -1, max: 201 }), (slices, after) => {
        const set = slices.reduce<SliceSet>(addSlice, []);
        assert.deepEqual(slices.toReversed().reduce<SliceSet>(addSlice, []), set);
        const later = slices.filter((slice) => slice > after);
        assert.equal(nextSlice(set, after), later.length === 0 ? undefined : Math.min(...later));
        for (const slice of slices) assert.equal(addSlice(set, slice), set);
      }),
    );
  });

  it('forgets old slices, and never later ones', () => {
    fc.assert(
      fc.property(someSlices, fc.integer({ min: 0, max: 200 }), (slices, before) => {
        const kept = pruneSlices(slices.reduce<SliceSet>(addSlice, []), before);
        for (const slice of slices) if (slice >= before) assert.equal(nextSlice(kept, slice - 1), slice);
        assert.equal(nextSlice(kept, -1) === undefined || (nextSlice(kept, -1) as number) > before - 32, true);
      }),
    );
  });
});

describe('remembered occasions', () => {
  it('stay small, however many jobs, branches and failures there are [F47]', () => {
    const monitor = aMonitor({
      type: 'failure_count',
      parameters: { failure_count: 5, window_minutes: 10_080, resolution_timeout_minutes: 10_080 },
    });
    const world = new FlakyWorld([monitor]);
    let largest = 0;
    for (let no = 0; no < 3_000; no += 1) {
      const at = START + no * 20 * MINUTE;
      const upload = anUpload({ id: `u${no}`, sha: `c${no}`, job: `job ${no % 60}`, branch: `release/${no % 7}` });
      world.told.length = 0;
      world.tell({ upload, runs: [aRun(no % 3 === 0 ? 'FAILURE' : 'SUCCESS', at)] }, at);
      largest = Math.max(largest, JSON.stringify(world.state).length);
    }
    assert.ok(largest < 90_000, `${largest} characters`);
  });
});
