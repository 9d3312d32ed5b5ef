import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from './convert.js';
import { todaysRates } from './todays-rates.js';

// Flaky: it fails when the cache is cold, and nothing about the code under test is wrong.
test("a price at today's rate", () => {
  const { USD } = todaysRates(process.env.RATES_CACHE);
  assert.equal(convert(1000, USD), 1080);
});
