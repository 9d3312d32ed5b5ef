import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aToken, NOON, storeOrganization } from '../../../test/helpers/store-rows.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Token } from '../../storage/accounts.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { hasScope } from '../core/caller.ts';
import { Authenticator, hashTokenSecret } from './authenticate.ts';

async function createWorld(of: Partial<Token>) {
  const store = createMemoryStore();
  const { id: organizationId } = await storeOrganization(store);
  await store.accounts.insertToken(aToken({ organizationId, hash: hashTokenSecret('secret'), ...of }));
  const world = { now: NOON };
  const clock = { now: () => world.now, after: systemClock.after };
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const auth = new Authenticator({ store, clock, log });
  return Object.assign(world, { auth });
}

describe('a token', () => {
  it('is good before the instant of its expiry and not at it [A20]', async () => {
    const world = await createWorld({ expiresAt: NOON + 1_000 });
    world.now = NOON + 999;
    assert.ok(await world.auth.find('secret'));
    world.now = NOON + 1_000;
    assert.equal(await world.auth.find('secret'), undefined);
    await world.auth.close();
  });

  it('with instance and repositories, as earlier versions stored it, has nothing of instance [A21]', async () => {
    const world = await createWorld({ scopes: ['admin', 'instance'], repositoryIds: ['r1'] });
    const caller = await world.auth.find('secret');
    assert.ok(caller);
    assert.deepEqual([hasScope(caller, 'admin'), hasScope(caller, 'instance')], [true, false]);
    await world.auth.close();
  });
});
