import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSame } from './is-same.ts';

describe('plain data', () => {
  const same: readonly [unknown, unknown][] = [
    [
      { a: 1, b: ['x', { c: null }] },
      { b: ['x', { c: null }], a: 1 },
    ],
    [{ a: undefined }, {}],
    [[], []],
  ];
  for (const [a, b] of same) {
    it(`${JSON.stringify(a)} is the same as ${JSON.stringify(b)}`, () => {
      assert.ok(isSame(a, b));
      assert.ok(isSame(b, a));
    });
  }
  const different: readonly [unknown, unknown][] = [
    [{ a: 1 }, { a: 1, b: 2 }],
    [['x'], ['x', 'y']],
    [[], {}],
    [null, {}],
    [{ a: null }, {}],
    [1, '1'],
  ];
  for (const [a, b] of different) {
    it(`${JSON.stringify(a)} is not the same as ${JSON.stringify(b)}`, () => {
      assert.ok(!isSame(a, b));
      assert.ok(!isSame(b, a));
    });
  }
});
