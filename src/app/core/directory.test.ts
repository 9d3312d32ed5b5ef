import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { storeOrganization, storeQueue, storeRepository } from '../../../test/helpers/store-rows.ts';
import type { Forge } from '../../forge/forge.ts';
import type { Hosting } from '../../forge/hosting.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { Directory } from './directory.ts';

const BARE = {} as Forge;
const WITH_PEOPLE: Forge = { ...BARE, hosting: {} as Hosting };

async function createWorld() {
  const store = createMemoryStore();
  const { id: organizationId } = await storeOrganization(store);
  const forges = new Map([['local', BARE]]);
  const directory = new Directory(store, forges);
  const find = (path: string) => {
    const [host = '', owner = '', name = ''] = path.split('/');
    return directory.findRepository(organizationId, { host, owner, name });
  };
  return { store, forges, directory, organizationId, find };
}

describe('the directory', () => {
  test('caches nothing about a queue that was read before its repository changed [G77]', async () => {
    const { store, directory, organizationId } = await createWorld();
    const repository = await storeRepository(store, { organizationId, host: 'forge.test' });
    const { id } = await storeQueue(store, { repositoryId: repository.id, branch: 'main' });
    const { find } = store.repositories;
    store.repositories.find = async (...asked) => {
      const old = await find(...asked);
      store.repositories.find = find;
      await store.repositories.bar(repository.id, 'It is another one.', 1);
      directory.forget();
      return old;
    };
    const findQueue = () => directory.findQueue(organizationId, repository, 'main');
    assert.equal((await findQueue())?.queueId, id);
    const place = await findQueue();
    assert.deepEqual([place?.queueId, place?.repository.blockedReason], [id, 'It is another one.']);
  });

  test('asks the store once for a queue by its own name', async () => {
    const { store, directory, organizationId } = await createWorld();
    const repository = await storeRepository(store, { organizationId, host: 'forge.test' });
    await storeQueue(store, { repositoryId: repository.id, branch: 'main' });
    const first = await directory.findQueue(organizationId, repository, 'main');
    store.repositories.find = () => assert.fail('the repository is known');
    store.queues.find = () => assert.fail('the queue is known');
    assert.deepEqual(await directory.findQueue(organizationId, repository, 'main'), first);
  });

  test('tells letters of owner and name apart but on a forge with people, also one that is connected later [G118]', async () => {
    const { store, forges, organizationId, find } = await createWorld();
    const host = 'gerrit.corp';
    const { id } = await storeRepository(store, { organizationId, host, owner: 'team', name: 'App' });
    assert.equal((await find('gerrit.corp/team/App'))?.id, id);
    assert.equal(await find('gerrit.corp/team/app'), undefined);
    forges.set(host, BARE);
    assert.equal(await find('gerrit.corp/team/app'), undefined);
    forges.set(host, WITH_PEOPLE);
    assert.equal((await find('Gerrit.Corp/team/app'))?.id, id);
  });

  test('finds every host in small letters, and in those in which it was stored [G79]', async () => {
    const { store, organizationId, find } = await createWorld();
    const stored = { organizationId, owner: 'team', name: 'App' };
    const large = await storeRepository(store, { ...stored, host: 'Git.Corp' });
    assert.equal((await find('Git.Corp/team/App'))?.id, large.id);
    const small = await storeRepository(store, { ...stored, host: 'git.corp' });
    assert.equal((await find('GIT.corp/team/App'))?.id, small.id);
    assert.equal((await find('Git.Corp/team/App'))?.id, large.id);
    assert.equal(await find('GIT.corp/team/app'), undefined);
    await storeRepository(store, { ...stored, host: 'local' });
    assert.equal(await find('LOCAL/team/App'), undefined);
  });
});
