import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { storeOrganization, storeRepository } from '../../../test/helpers/store-rows.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, findRepository } from '../core/find-queue.ts';
import { isRefusal } from '../core/refusal.ts';
import { createQueue } from '../queue/queues.ts';
import { ensureRepository } from './ensure-repository.ts';
import { inspectRepository } from './inspect-repository.ts';
import { registerRepository } from './register-repository.ts';

async function createWorld() {
  const hosted = await HostedWorld.create();
  const { app, hosting } = hosted;
  const { host, owner, name, organizationId } = await hosted.repository();
  const organization = await app.store.accounts.findOrganizationById(organizationId);
  assert.ok(organization);
  const caller: Caller = { organization, tokenId: '', name: 'ada', scopes: new Set(['admin']), repositoryIds: null };
  const names = async () => (await app.store.repositories.list(organizationId)).map((each) => each.name);
  return {
    ...{ hosted, app, hosting, caller, names, organizationId },
    ref: { host, owner, name },
    register: (repo: RepositoryRef, junit?: readonly string[]) =>
      registerRepository(app, caller, {
        repo,
        ...(junit && { junit }),
      }),
  };
}

const shout = ({ host, owner, name }: RepositoryRef) => ({
  host: host.toUpperCase(),
  owner: owner.toUpperCase(),
  name: name.toUpperCase(),
});

describe('registering a repository', () => {
  test('under a name in other letters finds the known one, which is spelled as its forge does [G116]', async () => {
    const { app, hosting, hosted, caller, names, ref, register } = await createWorld();
    const { id } = await hosted.repository();
    hosting.name = { owner: 'Acme', name: 'App' };
    assert.ok(!isRefusal(await register(shout(ref), ['*.xml'])));
    assert.deepEqual(await names(), ['App']);
    const known = await findRepository(app, caller, { ...ref, owner: 'aCME', name: 'aPP' });
    assert.ok(!isRefusal(known));
    assert.deepEqual([known.id, known.owner, known.junit], [id, 'Acme', ['*.xml']]);
  });

  test('one that was renamed goes on as the one that was known by its id [G110]', async () => {
    const { hosting, hosted, ref, names, register } = await createWorld();
    await register(ref);
    const { id } = await hosted.repository();
    hosting.name = { owner: ref.owner, name: 'renamed' };
    assert.ok(!isRefusal(await register({ ...ref, name: 'Renamed' })));
    assert.deepEqual(await names(), ['renamed']);
    assert.equal((await hosted.repository()).id, id);
  });

  test('under a second name is refused: two queues would land against each other [G110]', async () => {
    const { app, hosting, ref, register, organizationId } = await createWorld();
    await register(ref);
    await storeRepository(app.store, { organizationId, ...ref, name: 'second' });
    app.directory.forget();
    hosting.name = { owner: ref.owner, name: 'second' };
    const answer = await register({ ...ref, name: 'second' });
    assert.ok(isRefusal(answer));
    assert.match(answer.detail, /second is the repository that is known here as .* Remove what is registered/);
  });
});

describe('a repository that only an upload made', () => {
  test('is identified by its id: a former name gives no access to the queues of another [G71] [G78]', async () => {
    const { app, caller, ref } = await createWorld();
    const organization = await storeOrganization(app.store);
    const rival: Caller = { ...caller, organization, name: 'mallory' };
    const queue = { repo: { ...ref, owner: 'former' }, targetBranch: 'main' };
    await ensureRepository(app, rival, queue.repo);
    for (const answer of [
      await inspectRepository(app, rival, queue),
      await createQueue(app, rival, { ...queue, settings: {}, state: undefined }),
    ]) {
      assert.ok(isRefusal(answer));
      assert.match(answer.detail, /Another organization of this server has queues on repositories of/);
    }
  });

  test('is learned at its registration [G76]', async () => {
    const { hosting, hosted, ref, register } = await createWorld();
    hosting.forgeId = '7';
    assert.ok(!isRefusal(await register(ref)));
    assert.equal((await hosted.repository()).forgeId, '7');
  });

  test('is learned when it gets its first queue [G76]', async () => {
    const { app, caller, ref, hosting } = await createWorld();
    Object.assign(hosting, { name: { owner: ref.owner, name: 'Tests' }, forgeId: '2' });
    await ensureRepository(app, caller, { ...ref, name: 'tests' });
    const queue = { repo: { ...ref, name: 'tests' }, targetBranch: 'main' };
    assert.ok(!isRefusal(await createQueue(app, caller, { ...queue, settings: {}, state: undefined })));
    const known = await findRepository(app, caller, queue.repo);
    assert.ok(!isRefusal(known));
    assert.deepEqual([known.name, known.forgeId], ['Tests', '2']);
  });
});

describe('a token for some repositories', () => {
  test('registers no other that has their name now [G112]', async () => {
    const { app, caller, ref, hosting, hosted, names, register } = await createWorld();
    await register(ref);
    hosting.replace({ owner: ref.owner, name: 'moved' });
    const limited = { ...caller, repositoryIds: new Set([(await hosted.repository()).id]) };
    const answer = await registerRepository(app, limited, {
      repo: ref,
    });
    assert.ok(isRefusal(answer));
    assert.equal(answer.code, 'INSUFFICIENT_SCOPE');
    assert.deepEqual(await names(), ['moved']);
  });
});

describe('finding a repository', () => {
  test('ignores the case of its name on a forge with people, and matches it exactly on plain git [G118] [G79]', async () => {
    const { app, caller, ref, hosted, organizationId } = await createWorld();
    const found = await findQueue(app, caller, { repo: shout(ref), targetBranch: 'main' });
    assert.ok(!isRefusal(found));
    assert.equal(found.id, hosted.world.queueId);
    assert.ok(isRefusal(await findQueue(app, caller, { repo: shout(ref), targetBranch: 'MAIN' })));
    const plain = { host: 'local', owner: 'acme', name: 'app' };
    await storeRepository(app.store, { organizationId, ...plain });
    assert.ok(!isRefusal(await findRepository(app, caller, plain)));
    for (const other of [shout(plain), { ...plain, name: 'App' }, { ...plain, host: 'LOCAL' }]) {
      assert.ok(isRefusal(await findRepository(app, caller, other)));
    }
  });

  test('caches only the spelling that the store has', async () => {
    const { app, caller, ref } = await createWorld();
    const asked: string[] = [];
    const { find } = app.store.repositories;
    app.store.repositories.find = (organizationId, each) => {
      asked.push(each.name);
      return find(organizationId, each);
    };
    for (let round = 0; round < 3; round += 1) {
      await findRepository(app, caller, ref);
      await findRepository(app, caller, shout(ref));
    }
    assert.deepEqual(asked, [ref.name, ...Array(3).fill(ref.name.toUpperCase())]);
  });

  test('uploads in other letters belong to the known one; the first spelling stays until it is registered [G116]', async () => {
    const { app, hosting, caller, ref, names, register } = await createWorld();
    const known = await ensureRepository(app, caller, shout(ref));
    assert.ok(!isRefusal(known));
    assert.equal(known.name, ref.name);
    const tests = { ...ref, name: 'Tests' };
    const made = await ensureRepository(app, caller, tests);
    const again = await ensureRepository(app, caller, { ...tests, host: 'FORGE.test', name: 'TESTS' });
    assert.ok(!isRefusal(made) && !isRefusal(again));
    assert.equal(again.id, made.id);
    assert.deepEqual(await names(), ['Tests', ref.name]);
    Object.assign(hosting, { name: { owner: ref.owner, name: 'tests' }, forgeId: '2' });
    assert.ok(!isRefusal(await register({ ...tests, name: 'tEsts' })));
    assert.deepEqual(await names(), [ref.name, 'tests']);
  });
});
