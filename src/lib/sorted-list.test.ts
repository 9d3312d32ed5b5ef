import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptySortedList, firstOf, insertSorted, removeSorted, type SortedList, walk } from './sorted-list.ts';

describe('sorted list', () => {
  it('behaves like a sorted map, and leaves earlier versions alone', () => {
    const acts = fc.array(fc.record({ isInsert: fc.boolean(), key: fc.integer({ min: 0, max: 300 }) }), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(acts, (list) => {
        const model = new Map<number, number>();
        let sorted: SortedList<number> = emptySortedList();
        for (const [index, { isInsert, key }] of list.entries()) {
          const before = sorted;
          const seen = [...walk(before)];
          sorted = isInsert ? insertSorted(sorted, key, index) : removeSorted(sorted, key);
          if (isInsert) model.set(key, index);
          else model.delete(key);
          assert.deepEqual([...walk(before)], seen);
        }
        const expected = [...model].sort(([a], [b]) => a - b).map(([, value]) => value);
        assert.deepEqual([...walk(sorted)], expected);
        assert.equal(sorted.size, expected.length);
        assert.equal(firstOf(sorted), expected[0]);
      }),
    );
  });

  it('returns the same list where nothing changed', () => {
    const list = insertSorted(emptySortedList<string>(), 1, 'a');
    assert.equal(insertSorted(list, 1, 'a'), list);
    assert.equal(removeSorted(list, 2), list);
  });
});
