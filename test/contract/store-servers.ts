import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreTests } from './store-fixture.ts';

export function serverPromises({ inStore }: StoreTests): void {
  inStore('servers are listed while they beat, and not after they left', async ({ servers }) => {
    const [one, two] = ['one', 'two'].map((id) => ({ id, address: `http://${id}`, version: '1.0.0' })) as [
      never,
      never,
    ];
    await servers.beat(one, 60_000);
    assert.deepEqual(await servers.beat(two, 60_000), [one, two]);
    const moved = { id: 'one', address: 'http://elsewhere', version: '2.0.0' };
    assert.deepEqual(await servers.beat(moved, 60_000), [moved, two]);
    await sleep(60);
    assert.deepEqual(await servers.beat(moved, 50), [moved]);
    await servers.leave('two');
    assert.deepEqual(await servers.beat(moved, 60_000), [moved]);
    await servers.leave('one');
  });
}
