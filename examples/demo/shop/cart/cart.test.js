import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linePrice } from './line-price.js';
import { subtotal } from './subtotal.js';

test('a line costs its price as often as it counts', () => {
  assert.equal(linePrice({ price: 250, count: 3 }), 750);
});

test('the subtotal adds up all lines', () => {
  assert.equal(
    subtotal([
      { price: 250, count: 3 },
      { price: 1000, count: 1 },
    ]),
    1750,
  );
});
