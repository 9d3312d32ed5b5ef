import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTax } from './with-tax.js';

test('Finland takes 25.5 %', () => {
  assert.equal(withTax(1000, 'FI'), 1255);
});
