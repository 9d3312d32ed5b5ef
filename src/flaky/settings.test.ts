import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defaultMonitors } from './settings.ts';

it('the monitors of a repository that nobody changed are the same whenever they are asked for', () => {
  const monitors = defaultMonitors('repository-1', 7);
  assert.deepEqual(monitors, defaultMonitors('repository-1', 7));
  assert.equal(new Set(monitors.map(({ id }) => id)).size, 5);
  const others = new Set(defaultMonitors('repository-2', 7).map(({ id }) => id));
  assert.equal(
    monitors.some(({ id }) => others.has(id)),
    false,
  );
});
