import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { changedKeys, deleteIn, emptyIntMap, getIn, type IntMap, intMapOf, setIn, valuesOf } from './int-map.ts';

const key = fc.oneof(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 0xffffffff }));
const operation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
  fc.record({ kind: fc.constant('delete' as const), key, value: fc.constant(0) }),
);

function apply(map: IntMap<number>, op: { kind: 'set' | 'delete'; key: number; value: number }): IntMap<number> {
  return op.kind === 'set' ? setIn(map, op.key, op.value) : deleteIn(map, op.key);
}

describe('IntMap', () => {
  it('behaves like a Map, and never changes an earlier version', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const model = new Map<number, number>();
        let map = emptyIntMap<number>();
        for (const op of operations) {
          const before = map;
          const sizeBefore = before.size;
          const valueBefore = getIn(before, op.key);
          map = apply(map, op);
          assert.equal(getIn(before, op.key), valueBefore);
          assert.equal(before.size, sizeBefore);
          if (op.kind === 'set') model.set(op.key, op.value);
          else model.delete(op.key);
          assert.equal(map.size, model.size);
          assert.equal(getIn(map, op.key), model.get(op.key));
        }
        assert.deepEqual([...valuesOf(map)].sort(), [...model.values()].sort());
        for (const [k, v] of model) assert.equal(getIn(map, k), v);
      }),
    );
  });

  it('names exactly the keys that differ', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100 }), fc.array(operation, { maxLength: 30 }), (first, second) => {
        const before = first.reduce(apply, emptyIntMap<number>());
        const after = second.reduce(apply, before);
        const keys = new Set([...first, ...second].map((op) => op.key));
        const expected = [...keys].filter((k) => getIn(before, k) !== getIn(after, k));
        assert.deepEqual(changedKeys(before, after).sort(), expected.sort());
      }),
    );
  });

  it('returns the same map when nothing changes', () => {
    const map = intMapOf([[7, 'a']]);
    assert.equal(setIn(map, 7, 'a'), map);
    assert.equal(deleteIn(map, 8), map);
  });
});
