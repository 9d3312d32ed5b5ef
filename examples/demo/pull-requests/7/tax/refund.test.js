import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refund } from './refund.js';

test('a refund is the tax without a fee', () => {
  assert.equal(refund(10_000, 'DE'), 1600);
  assert.equal(refund(1000, 'DE'), 0);
});
