import assert from 'node:assert/strict';
import { it } from 'node:test';
import { backoffMs } from './backoff.ts';

it('a wait doubles up to its cap, and is spread over its upper half', () => {
  const waits = [0, 1, 2, 3, 10, 1000].map((n) => backoffMs(n, { firstMs: 100, capMs: 500, spread: 1 }));
  assert.deepEqual(waits, [100, 200, 400, 500, 500, 500]);
  assert.equal(backoffMs(1, { firstMs: 100, capMs: 500, spread: 0 }), 100);
});
