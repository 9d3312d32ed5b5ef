import assert from 'node:assert/strict';
import { test } from 'node:test';
import { salesTax } from './tax.js';

test('tax is rounded to a cent', () => {
  assert.equal(salesTax(1000, 'DE'), 190);
  assert.equal(salesTax(1003, 'FR'), 201);
});
