import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gatherMs } from './gather.ts';

it('callers wait for each other for half the time of the last write, within limits', () => {
  assert.equal(gatherMs(8, 3), 8);
  assert.equal(gatherMs(8, 40), 20);
  assert.equal(gatherMs(8, 5_000), 50);
});
