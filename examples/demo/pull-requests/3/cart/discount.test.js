import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linePrice } from './line-price.js';

test('ten of one item cost as much as nine', () => {
  assert.equal(linePrice({ price: 100, count: 10 }), 900);
});
