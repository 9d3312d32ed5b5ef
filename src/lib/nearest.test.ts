import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './nearest.ts';

for (const [given, names, expected] of [
  ['tets', ['lint', 'test'], 'test'],
  ['Test', ['lint', 'test'], 'test'],
  ['unit', ['lint', 'test'], undefined],
  ['acme/ap', ['acme/app', 'acme/api', 'acme/web'], 'acme/app'],
  ['main', [], undefined],
  ['x'.repeat(300), ['x'.repeat(299)], undefined],
] as const) {
  test(`${given.slice(0, 20)} among ${names.length} names is probably ${expected?.slice(0, 20)}`, () => {
    assert.equal(nearest(given, names), expected);
  });
}
