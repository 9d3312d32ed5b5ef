/** Paths and contents. */
export type Files = Readonly<Record<string, string>>;

/**
 * The project that the pull requests of the demo are about: what a basket costs. It needs nothing but Node. Two tests wait
 * a moment, as tests do, so that one sees them run.
 */
export const SHOP: Files = {
  'README.md': `# Shop

What a basket costs: five small parts, each in a folder of its own. All amounts are cents.
\`node --test\` runs the unit tests, \`node --test '*/*.smoke.js'\` the smoke tests.
`,

  'package.json': `{
  "name": "shop",
  "private": true,
  "type": "module"
}
`,

  'cart/line-price.js': `export function linePrice({ price, count }) {
  return price * count;
}
`,

  'cart/subtotal.js': `import { linePrice } from './line-price.js';

export function subtotal(items) {
  return items.reduce((sum, item) => sum + linePrice(item), 0);
}
`,

  'cart/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linePrice } from './line-price.js';
import { subtotal } from './subtotal.js';

test('a line costs its price as often as it counts', () => {
  assert.equal(linePrice({ price: 250, count: 3 }), 750);
});

test('the subtotal adds up all lines', () => {
  assert.equal(subtotal([{ price: 250, count: 3 }, { price: 1000, count: 1 }]), 1750);
});
`,

  'tax/rates.js': `/** Percent, by country. */
export const RATES = {
  DE: 19,
  FI: 24,
  FR: 20,
};
`,

  'tax/tax.js': `import { RATES } from './rates.js';

export function taxFor(amount, country) {
  return Math.round((amount * RATES[country]) / 100);
}
`,

  'tax/with-tax.js': `import { taxFor } from './tax.js';

export function withTax(amount, country) {
  return amount + taxFor(amount, country);
}
`,

  'tax/tax.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taxFor } from './tax.js';

test('tax is rounded to a cent', () => {
  assert.equal(taxFor(1000, 'DE'), 190);
  assert.equal(taxFor(1003, 'FR'), 201);
});
`,

  'shipping/shipping.js': `export function shippingFor(grams) {
  if (grams <= 1000) return 490;
  return 990;
}
`,

  'shipping/shipping.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shippingFor } from './shipping.js';

test('a heavy parcel costs more than a light one', () => {
  assert.ok(shippingFor(5000) > shippingFor(500));
});
`,

  'currency/convert.js': `export function convert(amount, rate) {
  return Math.round(amount * rate);
}
`,

  'currency/convert.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from './convert.js';

test('an amount is converted to whole cents', () => {
  assert.equal(convert(1999, 1.08), 2159);
});
`,

  'report/receipt.js': `export function receipt(lines) {
  return lines.map(({ name, amount }) => \`\${name} \${(amount / 100).toFixed(2)}\`).join('\\n');
}
`,

  'report/receipt.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { receipt } from './receipt.js';

const PRINTER_MS = 700;

test('a receipt has a line for each item', async () => {
  await setTimeout(PRINTER_MS);
  assert.match(receipt([{ name: 'Tea', amount: 450 }, { name: 'Milk', amount: 119 }]), /^Tea +4\\.50\\nMilk +1\\.19$/);
});
`,

  'report/purchase.smoke.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { subtotal } from '../cart/subtotal.js';
import { shippingFor } from '../shipping/shipping.js';
import { withTax } from '../tax/with-tax.js';
import { receipt } from './receipt.js';

const CARD_TERMINAL_MS = 1500;

test('a whole purchase, from the cart to the receipt', async () => {
  const goods = subtotal([{ price: 450, count: 2 }, { price: 119, count: 1 }]);
  const total = withTax(goods + shippingFor(800), 'DE');
  await setTimeout(CARD_TERMINAL_MS);
  assert.ok(total > goods);
  assert.match(receipt([{ name: 'Total', amount: total }]), /^Total +\\d+\\.\\d\\d$/);
});
`,
};
