import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from './convert.js';

test('an amount is converted to whole cents', () => {
  assert.equal(convert(1999, 1.08), 2159);
});
