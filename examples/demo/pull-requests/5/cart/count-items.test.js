import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countItems } from './count-items.js';

test('every piece counts', () => {
  assert.equal(countItems([{ count: 3 }, { count: 1 }]), 4);
});
