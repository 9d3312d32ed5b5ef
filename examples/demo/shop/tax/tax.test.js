import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taxFor } from './tax.js';

test('tax is rounded to a cent', () => {
  assert.equal(taxFor(1000, 'DE'), 190);
  assert.equal(taxFor(1003, 'FR'), 201);
});
