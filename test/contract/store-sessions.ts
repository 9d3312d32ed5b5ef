import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Session } from '../../src/storage/sessions.ts';
import type { Store } from '../../src/storage/store.ts';
import { storeOrganization } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

const NOBODY = { organizationId: null, person: null };

async function aSession(store: Store, values: Partial<Session> = {}): Promise<Session> {
  const organization = await storeOrganization(store);
  const [token] = await store.accounts.listTokens(organization.id);
  const times = { createdAt: 1_000, usedAt: 1_000 };
  const session = { hash: randomUUID(), tokenId: token?.id ?? '', ...times, ...NOBODY, isLink: false, ...values };
  await store.sessions.insert(session);
  return session;
}

export function sessionPromises({ inStore }: StoreTests): void {
  inStore('a session is found with its token, until it is removed', async ({ store, sessions }) => {
    const session = await aSession(store);
    const found = await sessions.find(session.hash);
    assert.deepEqual([found?.session, found?.token?.id], [session, session.tokenId]);
    assert.equal(found?.organization.id, found?.token?.organizationId);
    await sessions.recordUse(session.hash, 5_000);
    await sessions.recordUse(session.hash, 4_000);
    assert.equal((await sessions.find(session.hash))?.session.usedAt, 5_000);
    await sessions.remove(session.hash);
    assert.equal(await sessions.find(session.hash), undefined);
  });

  inStore('of many who open a link one gets a session', async ({ store, sessions }) => {
    const link = await aSession(store, { isLink: true });
    const hashes = Array.from({ length: 6 }, () => randomUUID());
    const opened = await Promise.all(
      hashes.map((hash) => sessions.openLink(link.hash, { hash, at: 2_000, madeAfter: 500 })),
    );
    assert.equal(opened.filter((isOpen) => isOpen).length, 1);
    const hash = hashes[opened.indexOf(true)] ?? '';
    const session = { ...link, hash, createdAt: 2_000, usedAt: 2_000, isLink: false };
    assert.deepEqual((await sessions.find(hash))?.session, session);
    assert.equal(await sessions.find(link.hash), undefined);
    assert.equal(await sessions.openLink(hash, { hash: randomUUID(), at: 2_001, madeAfter: 500 }), false);
  });

  inStore(
    'the session of a person is found without a token, and ended by its organization alone',
    async ({ store, sessions }) => {
      const { id: organizationId } = await storeOrganization(store);
      const { id: other } = await storeOrganization(store);
      const person = { provider: 'sso', subject: '1', name: 'Ada', groups: ['devs'], logins: { 'github.com': 'ada' } };
      const session = await aSession(store, { tokenId: '', organizationId, person });
      const later = await aSession(store, { tokenId: '', organizationId, person, createdAt: 2_000 });
      const found = await sessions.find(session.hash);
      assert.deepEqual([found?.session, found?.token, found?.organization.id], [session, undefined, organizationId]);
      assert.deepEqual(await sessions.listPeople(organizationId), [later, session]);
      assert.deepEqual(await sessions.listPeople(other), []);
      assert.equal(await sessions.revoke(other, session.hash, []), false);
      assert.equal(await sessions.revoke(organizationId, session.hash, []), true);
      assert.equal(await sessions.find(session.hash), undefined);
    },
  );

  inStore('a link that is too old opens nothing', async ({ store, sessions }) => {
    const link = await aSession(store, { isLink: true });
    assert.equal(await sessions.openLink(link.hash, { hash: randomUUID(), at: 2_000, madeAfter: 1_000 }), false);
  });

  inStore('sessions that were begun or used long ago are removed', async ({ store, sessions }) => {
    const old = await aSession(store, { createdAt: 100, usedAt: 900 });
    const unused = await aSession(store, { createdAt: 500, usedAt: 600 });
    const good = await aSession(store, { createdAt: 500, usedAt: 900 });
    assert.equal(await sessions.tidy({ begun: 200, used: 800 }), 2);
    const found = await Promise.all([old, unused, good].map(({ hash }) => sessions.find(hash)));
    assert.deepEqual(
      found.map((each) => each?.session.hash),
      [undefined, undefined, good.hash],
    );
  });
}
