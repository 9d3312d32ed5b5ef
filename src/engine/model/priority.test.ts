import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parsePriority } from './priority.ts';

it('names and numbers of priorities [E5]', () => {
  assert.deepEqual(parsePriority('Urgent'), { value: 0, name: 'urgent', isDefault: false });
  assert.deepEqual(parsePriority(10), { value: 10, name: 'high', isDefault: false });
  assert.deepEqual(parsePriority('255'), { value: 255, name: '255', isDefault: false });
  for (const bad of ['', 'soon', '256', '-1', '1.5', ' 1', 256, -1, 1.5, Number.NaN])
    assert.equal(parsePriority(bad), undefined, String(bad));
});
