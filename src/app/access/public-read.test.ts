import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aRepository, NOON, storeOrganization } from '../../../test/helpers/store-rows.ts';
import { createTestApp } from '../../../test/worlds/shell/create-app.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { bindPublicRead } from './public-read.ts';

describe('a name of SLUICE_PUBLIC_READ', () => {
  async function createWorld() {
    const store = createMemoryStore();
    const organization = await storeOrganization(store);
    const { id: organizationId, slug } = organization;
    const repo = { host: 'local', owner: 'acme', name: 'app' };
    const name = { text: `${slug}/local/acme/app`, organization: slug, repo };
    const warned: string[] = [];
    const log = { debug() {}, info() {}, warn: (_: object, text: string) => warned.push(text), error() {} };
    const register = (values: object = {}) =>
      store.repositories.save(aRepository({ organizationId, ...repo, ...values }));
    /** A server that has just started. */
    const bind = (names = [name]) => bindPublicRead(createTestApp({ store, forges: new Map(), log }), names);
    return { store, slug, repo, name, warned, register, bind };
  }

  it('is bound to the repository that has it, which stays public under another name [A42]', async () => {
    const { store, slug, repo, register, bind } = await createWorld();
    const app = await register();
    assert.deepEqual([...((await bind()).findStranger(slug)?.repositoryIds ?? [])], [app.id]);
    await store.repositories.rename(app.id, { ...repo, name: 'renamed' }, NOON);
    const other = await register();
    assert.notEqual(other.id, app.id);
    const again = await bind();
    assert.deepEqual([...(again.findStranger(slug)?.repositoryIds ?? [])], [app.id]);
    assert.deepEqual(await again.list(), [{ organization: slug, repo: { ...repo, name: 'renamed' } }]);
  });

  it('opens nothing once its repository is removed, until it was taken out and put back [A42]', async () => {
    const { store, slug, warned, register, bind } = await createWorld();
    const app = await register();
    await bind();
    await store.repositories.remove(app.id);
    const other = await register();
    assert.equal((await bind()).findStranger(slug), undefined);
    assert.match(warned.join(), /has been removed/);
    await bind([]);
    assert.deepEqual([...((await bind()).findStranger(slug)?.repositoryIds ?? [])], [other.id]);
  });

  it('that no repository has is reported and opens nothing, also when one gets it later [A42]', async () => {
    const { slug, name, warned, register, bind } = await createWorld();
    const started = await bind([name, { ...name, text: 'nobody/local/acme/app', organization: 'nobody' }]);
    assert.equal(warned.length, 2);
    await register();
    assert.equal(started.findStranger(slug), undefined);
    assert.notEqual((await bind()).findStranger(slug), undefined, 'after the next start');
  });

  it('is for its own organization alone [A42]', async () => {
    const { store, slug, register, bind } = await createWorld();
    await register();
    const other = await storeOrganization(store);
    const started = await bind();
    assert.equal(started.findStranger(other.slug), undefined);
    assert.deepEqual([...(started.findStranger(slug)?.scopes ?? [])], ['read']);
  });
});
