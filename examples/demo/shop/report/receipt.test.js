import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { receipt } from './receipt.js';

const PRINTER_MS = 700;

test('a receipt has a line for each item', async () => {
  await setTimeout(PRINTER_MS);
  assert.match(
    receipt([
      { name: 'Tea', amount: 450 },
      { name: 'Milk', amount: 119 },
    ]),
    /^Tea +4\.50\nMilk +1\.19$/,
  );
});
