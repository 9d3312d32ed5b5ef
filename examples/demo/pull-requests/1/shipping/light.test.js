import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shippingFor } from './shipping.js';

test('2 kg are light', () => {
  assert.equal(shippingFor(2000), shippingFor(1));
});
