import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { subtotal } from '../cart/subtotal.js';
import { shippingFor } from '../shipping/shipping.js';
import { withTax } from '../tax/with-tax.js';
import { receipt } from './receipt.js';

const CARD_TERMINAL_MS = 1500;

test('a whole purchase, from the cart to the receipt', async () => {
  const goods = subtotal([
    { price: 450, count: 2 },
    { price: 119, count: 1 },
  ]);
  const total = withTax(goods + shippingFor(800), 'DE');
  await setTimeout(CARD_TERMINAL_MS);
  assert.ok(total > goods);
  assert.match(receipt([{ name: 'Total', amount: total }]), /^Total +\d+\.\d\d$/);
});
