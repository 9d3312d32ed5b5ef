import type { Files } from './shop.ts';

/** What must come of a pull request, or the demo has failed. */
export type Ending =
  | { readonly kind: 'lands' }
  /** `reason` is the code of the API. */
  | { readonly kind: 'removed'; readonly reason: string }
  /** Removed by a check that fails now and then, and lands when it is submitted again. */
  | { readonly kind: 'lands_at_second_try'; readonly check: string };

export interface DemoPullRequest {
  readonly number: number;
  readonly author: string;
  readonly title: string;
  /** What it shows, as a note beside its title. */
  readonly note: string;
  readonly files: Files;
  readonly ending: Ending;
  /** It comes when the others are already under test. */
  readonly comesLater?: true;
  readonly isUrgent?: true;
}

export const CHECKS = { unit: 'unit', smoke: 'smoke' } as const;

const LANDS: Ending = { kind: 'lands' };

/**
 * In the order in which they are submitted. Whatever the machine is like, the line is built in this order, so that each
 * ends in the same way every time: #2 meets #1, #5 stands on #4, #7 on #6. The last one overlaps with nobody and comes
 * after the urgent one, so that nothing interrupts the one run in which its flaky test fails.
 */
export const STORY: readonly DemoPullRequest[] = [
  {
    number: 1,
    author: 'Ada',
    title: 'Parcels up to 2 kg are light',
    note: 'good',
    ending: LANDS,
    files: {
      'shipping/shipping.js': `export function shippingFor(grams) {
  if (grams <= 2000) return 490;
  return 990;
}
`,
      'shipping/light.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shippingFor } from './shipping.js';

test('2 kg are light', () => {
  assert.equal(shippingFor(2000), shippingFor(1));
});
`,
    },
  },
  {
    number: 2,
    author: 'Grace',
    title: 'Light parcels cost 3.90',
    note: 'changes the same line as #1',
    ending: { kind: 'removed', reason: 'START_TEST_RUN_MERGE_CONFLICT' },
    files: {
      'shipping/shipping.js': `export function shippingFor(grams) {
  if (grams <= 1000) return 390;
  return 990;
}
`,
    },
  },
  {
    number: 3,
    author: 'Radia',
    title: 'A tenth off from ten of one item on',
    note: 'good',
    ending: LANDS,
    files: {
      'cart/line-price.js': `export function linePrice({ price, count }) {
  const full = price * count;
  return count < 10 ? full : Math.round(full * 0.9);
}
`,
      'cart/discount.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linePrice } from './line-price.js';

test('ten of one item cost as much as nine', () => {
  assert.equal(linePrice({ price: 100, count: 10 }), 900);
});
`,
    },
  },
  {
    number: 4,
    author: 'Edsger',
    title: 'A simpler subtotal',
    note: 'breaks a unit test',
    ending: { kind: 'removed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' },
    files: {
      'cart/subtotal.js': `export function subtotal(items) {
  return items.reduce((sum, { price }) => sum + price, 0);
}
`,
    },
  },
  {
    number: 5,
    author: 'Barbara',
    title: 'Count the items of a cart',
    note: 'good, and stands behind #4',
    ending: LANDS,
    files: {
      'cart/count-items.js': `export function countItems(items) {
  return items.reduce((sum, { count }) => sum + count, 0);
}
`,
      'cart/count-items.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countItems } from './count-items.js';

test('every piece counts', () => {
  assert.equal(countItems([{ count: 3 }, { count: 1 }]), 4);
});
`,
    },
  },
  {
    number: 6,
    author: 'Ken',
    title: 'Rename taxFor to salesTax',
    note: 'good',
    ending: LANDS,
    files: {
      'tax/tax.js': `import { RATES } from './rates.js';

export function salesTax(amount, country) {
  return Math.round((amount * RATES[country]) / 100);
}
`,
      'tax/with-tax.js': `import { salesTax } from './tax.js';

export function withTax(amount, country) {
  return amount + salesTax(amount, country);
}
`,
      'tax/tax.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { salesTax } from './tax.js';

test('tax is rounded to a cent', () => {
  assert.equal(salesTax(1000, 'DE'), 190);
  assert.equal(salesTax(1003, 'FR'), 201);
});
`,
    },
  },
  {
    number: 7,
    author: 'Donald',
    title: 'Give tourists their tax back',
    note: 'good alone, breaks together with #6',
    ending: { kind: 'removed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' },
    files: {
      'tax/refund.js': `import { taxFor } from './tax.js';

const FEE = 300;

export function refund(amount, country) {
  return Math.max(0, taxFor(amount, country) - FEE);
}
`,
      'tax/refund.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refund } from './refund.js';

test('a refund is the tax without a fee', () => {
  assert.equal(refund(10_000, 'DE'), 1600);
  assert.equal(refund(1000, 'DE'), 0);
});
`,
    },
  },
  {
    number: 8,
    author: 'Margaret',
    title: 'Line up the prices of a receipt',
    note: 'good',
    ending: LANDS,
    files: {
      'report/receipt.js': `const NAME_WIDTH = 20;

export function receipt(lines) {
  return lines.map(({ name, amount }) => \`\${name.padEnd(NAME_WIDTH)} \${(amount / 100).toFixed(2)}\`).join('\\n');
}
`,
    },
  },
  {
    number: 9,
    author: 'Linus',
    title: 'The tax of Finland is 25.5 % since September',
    note: 'urgent',
    ending: LANDS,
    comesLater: true,
    isUrgent: true,
    files: {
      'tax/rates.js': `/** Percent, by country. */
export const RATES = {
  DE: 19,
  FI: 25.5,
  FR: 20,
};
`,
      'tax/finland.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTax } from './with-tax.js';

test('Finland takes 25.5 %', () => {
  assert.equal(withTax(1000, 'FI'), 1255);
});
`,
    },
  },
  {
    number: 10,
    author: 'Sophie',
    title: "Convert at today's exchange rate",
    note: 'its smoke test is flaky',
    ending: { kind: 'lands_at_second_try', check: CHECKS.smoke },
    comesLater: true,
    files: {
      'currency/todays-rates.js': `import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** From a cache that all runs of CI share. Who finds it cold warms it up for the next one, and goes without. */
export function todaysRates(file) {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ USD: 1.08 }));
  return {};
}
`,
      'currency/todays-rates.smoke.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from './convert.js';
import { todaysRates } from './todays-rates.js';

// Flaky: it fails when the cache is cold, and nothing about the code under test is wrong.
test("a price at today's rate", () => {
  const { USD } = todaysRates(process.env.RATES_CACHE);
  assert.equal(convert(1000, USD), 1080);
});
`,
    },
  },
];

/** Which parts of the shop it touches: pull requests that touch different ones are tested and landed side by side. */
export function targetsOf({ files }: DemoPullRequest): string[] {
  return [...new Set(Object.keys(files).map((path) => path.split('/', 1)[0] as string))];
}
