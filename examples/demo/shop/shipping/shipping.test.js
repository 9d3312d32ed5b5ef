import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shippingFor } from './shipping.js';

test('a heavy parcel costs more than a light one', () => {
  assert.ok(shippingFor(5000) > shippingFor(500));
});
