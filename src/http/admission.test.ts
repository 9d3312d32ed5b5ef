import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RateLimit } from './admission.ts';

it('lets a burst of one second through, then one after another, for each key apart [A9]', () => {
  let now = 1_000_000;
  const limit = new RateLimit(2, { now: () => now });
  assert.deepEqual([limit.spend('a'), limit.spend('a'), limit.spend('a')], [0, 0, 1]);
  assert.equal(limit.spend('b'), 0);
  now += 500;
  assert.deepEqual([limit.spend('a'), limit.spend('a')], [0, 1]);
  now -= 3_600_000;
  assert.equal(limit.spend('a'), 1, 'a clock that goes back gives nothing');
  now += 3_600_000 + 60_000;
  assert.deepEqual([limit.spend('a'), limit.spend('a'), limit.spend('a')], [0, 0, 1]);
});
