import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { OrganizationId } from '../../src/storage/accounts.ts';
import { anOrganization, aToken, NOON, storeOrganization } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function accountPromises(tests: StoreTests): void {
  organizationPromises(tests);
  tokenPromises(tests);
  replacementPromises(tests);
}

function organizationPromises({ inStore }: StoreTests): void {
  inStore('an organization and its first token are stored together', async ({ accounts }) => {
    const organization = anOrganization();
    const token = aToken({ organizationId: organization.id, origin: 'first', repositoryIds: ['r1', 'r2'] });
    assert.equal(await accounts.createOrganization(organization, token), 'created');
    assert.deepEqual(await accounts.findOrganization(organization.slug), organization);
    assert.deepEqual(await accounts.findOrganizationById(organization.id), organization);
    assert.deepEqual(await accounts.findToken(token.hash), { token, organization });
  });

  inStore('a slug is given once; the second organization and its token are not stored', async ({ store, accounts }) => {
    const first = await storeOrganization(store);
    const second = anOrganization({ slug: first.slug });
    const token = aToken({ organizationId: second.id });
    assert.equal(await accounts.createOrganization(second, token), 'slug_taken');
    assert.deepEqual(await accounts.findOrganization(first.slug), first);
    assert.equal(await accounts.findToken(token.hash), undefined);
  });

  inStore('neither is stored where the token cannot be', async ({ store, accounts }) => {
    const first = await storeOrganization(store);
    const [taken] = await accounts.listTokens(first.id);
    const second = anOrganization();
    const token = aToken({ organizationId: second.id, hash: taken?.hash ?? '' });
    await assert.rejects(accounts.createOrganization(second, token));
    assert.equal(await accounts.findOrganization(second.slug), undefined);
  });

  inStore('of many at once for one slug exactly one is created', async ({ accounts }) => {
    const slug = `org-${randomUUID()}`;
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => {
        const organization = anOrganization({ slug });
        return accounts.createOrganization(organization, aToken({ organizationId: organization.id }));
      }),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'created').length, 1);
  });

  inStore('unknown organizations and tokens are not found', async ({ accounts }) => {
    assert.equal(await accounts.findOrganization('nobody'), undefined);
    assert.equal(await accounts.findToken('nothing'), undefined);
    assert.deepEqual(await accounts.listTokens('nobody' as OrganizationId), []);
  });
}

function tokenPromises({ inStore }: StoreTests): void {
  inStore('tokens are listed in the order of their creation, revoked ones too', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store, { createdAt: NOON });
    const [first] = await accounts.listTokens(organizationId);
    const late = aToken({ organizationId, createdAt: NOON + 2, expiresAt: NOON + 10, scopes: ['admin'] });
    const early = aToken({ organizationId, createdAt: NOON + 1, revokedAt: NOON + 5 });
    await accounts.insertToken(late);
    await accounts.insertToken(early);
    assert.deepEqual(await accounts.listTokens(organizationId), [first, early, late]);
  });

  inStore(
    'a token of a person keeps what the last sign-in proved, until it is revoked',
    async ({ store, accounts }) => {
      const { id: organizationId } = await storeOrganization(store);
      const person = { provider: 'sso', subject: '1', name: 'Ada', groups: ['a'], logins: {} };
      const token = aToken({ organizationId, madeBy: 'Ada (sso:1)', person, signedInAt: NOON });
      await accounts.insertToken(token);
      const later = { ...person, groups: ['b'] };
      await accounts.recordSignIn([token.id, 'unknown'], later, NOON + 1);
      const renewed = { ...token, person: later, signedInAt: NOON + 1 };
      const listed = await accounts.listTokensOfPeople();
      assert.deepEqual(
        listed.filter(({ id }) => id === token.id),
        [renewed],
      );
      assert.ok(listed.every((each) => each.person !== null));
      await accounts.revokeToken(organizationId, token.id, NOON + 2);
      assert.ok(!(await accounts.listTokensOfPeople()).some(({ id }) => id === token.id));
    },
  );

  inStore('a token is revoked once, and only by its organization', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store);
    const other = await storeOrganization(store);
    const token = aToken({ organizationId });
    await accounts.insertToken(token);
    assert.equal(await accounts.revokeToken(other.id, token.id, NOON + 1), false);
    assert.equal(await accounts.revokeToken(organizationId, 'unknown', NOON + 1), false);
    assert.equal(await accounts.revokeToken(organizationId, token.id, NOON + 2), true);
    assert.equal(await accounts.revokeToken(organizationId, token.id, NOON + 3), true);
    assert.deepEqual((await accounts.findToken(token.hash))?.token, { ...token, revokedAt: NOON + 2 });
  });

  inStore('the latest use of a token is kept; unknown tokens are passed over', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store);
    const token = aToken({ organizationId });
    await accounts.insertToken(token);
    await accounts.recordTokenUse(
      new Map([
        [token.id, NOON + 5],
        ['unknown', NOON],
      ]),
    );
    await accounts.recordTokenUse(new Map([[token.id, NOON + 3]]));
    assert.equal((await accounts.findToken(token.hash))?.token.lastUsedAt, NOON + 5);
  });

  inStore('a token of no organization, or of a hash that is taken, is refused', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store);
    const token = aToken({ organizationId });
    await accounts.insertToken(token);
    await assert.rejects(accounts.insertToken(aToken({ organizationId, hash: token.hash })));
    await assert.rejects(accounts.insertToken(aToken({ organizationId: 'nobody' as OrganizationId })));
  });
}

function replacementPromises({ inStore }: StoreTests): void {
  inStore('a replacing token revokes the others of its organization and origin', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store);
    const old = aToken({ organizationId, origin: 'environment' });
    const foreign = aToken({ organizationId, origin: 'api' });
    await accounts.insertToken(old);
    await accounts.insertToken(foreign);
    const next = aToken({ organizationId, origin: 'environment', createdAt: NOON + 7 });
    await accounts.replaceToken(next);
    assert.equal((await accounts.findToken(old.hash))?.token.revokedAt, NOON + 7);
    assert.equal((await accounts.findToken(foreign.hash))?.token.revokedAt, null);
    assert.deepEqual((await accounts.findToken(next.hash))?.token, next);
  });

  inStore('replacing a token by itself keeps it', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store);
    const token = aToken({ organizationId, origin: 'environment' });
    await accounts.replaceToken(token);
    await accounts.replaceToken({ ...token, id: randomUUID(), createdAt: NOON + 9 });
    assert.deepEqual((await accounts.findToken(token.hash))?.token, token);
  });

  inStore('a token that comes back is valid again', async ({ store, accounts }) => {
    const { id: organizationId } = await storeOrganization(store);
    const token = aToken({ organizationId, origin: 'environment' });
    await accounts.replaceToken(token);
    await accounts.replaceToken(aToken({ organizationId, origin: 'environment' }));
    await accounts.replaceToken({ ...token, id: randomUUID() });
    assert.deepEqual((await accounts.findToken(token.hash))?.token, token);
  });
}
