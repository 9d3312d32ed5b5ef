import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DEFAULT_TEST_SETTINGS } from '../../src/flaky/settings.ts';
import type { RepositoryId, RepositoryRef } from '../../src/storage/repositories.ts';
import { anUpload } from '../helpers/an-upload.ts';
import {
  aFailure,
  anEvent,
  aQueue,
  aRepository,
  aTest,
  NOON,
  storeOrganization,
  storeQueue,
  storeRepository,
} from '../helpers/store-rows.ts';
import { applyResults } from '../helpers/test-results.ts';
import type { StoreTests } from './store-fixture.ts';

export function repositoryPromises({ inRepository, inStore }: StoreTests): void {
  inStore('a repository is stored and found by its reference and by its id', async ({ store, repositories }) => {
    const { id: organizationId } = await storeOrganization(store);
    const repository = aRepository({ organizationId, git: null, checks: [], junit: [] });
    assert.deepEqual(await repositories.save(repository), repository);
    assert.deepEqual(await repositories.find(organizationId, repository), repository);
    assert.ok((await repositories.listAll()).some(({ id }) => id === repository.id));
  });

  inStore(
    'saving the same reference again updates it and keeps its id and birthday',
    async ({ store, repositories }) => {
      const first = await storeRepository(store);
      const again = {
        ...first,
        id: randomUUID() as RepositoryId,
        git: 'other',
        createdAt: NOON + 1,
        updatedAt: NOON + 1,
        runHooks: true,
      };
      const expected = { ...again, id: first.id, createdAt: first.createdAt };
      assert.deepEqual(await repositories.save(again), expected);
      assert.deepEqual(await repositories.list(first.organizationId), [expected]);
    },
  );

  inStore(
    'ensuring a repository makes it, and leaves one of the same reference as it is',
    async ({ store, repositories }) => {
      const first = await storeRepository(store);
      const changes = { git: null, checks: [], junit: [], runHooks: true, updatedAt: NOON + 1 };
      const again = { ...first, id: randomUUID() as RepositoryId, ...changes };
      assert.deepEqual(await repositories.ensure(again), first);
      const other = { ...again, name: 'another' };
      const made = await Promise.all([
        repositories.ensure(other),
        repositories.ensure({ ...other, id: randomUUID() as RepositoryId }),
      ]);
      assert.deepEqual(made[0], made[1]);
      assert.deepEqual((await repositories.list(first.organizationId)).length, 2);
    },
  );

  inStore('references are compared exactly, and belong to their organization', async ({ store, repositories }) => {
    const first = await storeRepository(store, { name: 'Repo' });
    const other = await storeOrganization(store);
    assert.equal(await repositories.find(first.organizationId, { ...first, name: 'repo' }), undefined);
    assert.equal(await repositories.find(other.id, first), undefined);
  });

  inStore(
    'one is found whatever the letters of its name, and the first that was made where several are [G79]',
    async ({ store, repositories }) => {
      const first = await storeRepository(store, { owner: 'Acme', name: 'Repo' });
      const { organizationId, host } = first;
      await storeRepository(store, { organizationId, owner: 'acme', name: 'repo', createdAt: NOON + 1 });
      await storeRepository(store, { organizationId, owner: 'acme', name: 'caf\u{e9}' });
      for (const [owner, name] of [
        ['ACME', 'REPO'],
        ['acme', 'repo'],
        ['Acme', 'Repo'],
      ] as const) {
        assert.deepEqual(await repositories.findSpelled(organizationId, { host, owner, name }), first);
      }
      const findSpelled = (ref: Partial<RepositoryRef>, of = organizationId) =>
        repositories.findSpelled(of, { host, owner: 'acme', name: 'repo', ...ref });
      // Only letters that names on a forge can have.
      assert.equal(await findSpelled({ name: 'CAF\u{c9}' }), undefined);
      assert.equal(await findSpelled({ name: 'rep_' }), undefined);
      assert.equal(await findSpelled({ host: host.toUpperCase() }), undefined);
      assert.equal(await findSpelled({}, (await storeOrganization(store)).id), undefined);
    },
  );

  inRepository(
    "the forge's id is learned once, and replaced only by who registers [G76]",
    async ({ repositories, repository }) => {
      const present = () => repositories.find(repository.organizationId, repository);
      assert.equal(repository.forgeId, null);
      await repositories.identify(repository.id, '12');
      await repositories.identify(repository.id, '13');
      assert.deepEqual(await present(), { ...repository, forgeId: '12' });
      assert.deepEqual(await repositories.ensure({ ...repository, forgeId: '14' }), { ...repository, forgeId: '12' });
      await repositories.rename(repository.id, { ...repository, name: repository.name }, NOON);
      assert.equal((await present())?.forgeId, '12');
      await repositories.save({ ...repository, forgeId: '15' });
      assert.equal((await present())?.forgeId, '15');
      assert.equal((await repositories.listAll()).find(({ id }) => id === repository.id)?.forgeId, '15');
    },
  );

  inStore(
    'one is barred with a sentence, until nothing is in the way or it is registered [G111]',
    async ({ store, repositories }) => {
      const repository = await storeRepository(store, { forgeId: '1' });
      const present = () => repositories.find(repository.organizationId, repository);
      await repositories.bar(repository.id, 'It is another one.', 1);
      assert.deepEqual(await present(), { ...repository, blockedReason: 'It is another one.' });
      await repositories.bar(repository.id, null, 1);
      assert.deepEqual(await present(), repository);
      await repositories.bar(repository.id, 'Once more.', 1);
      await repositories.save(repository);
      assert.deepEqual(await present(), repository);
      await repositories.bar(randomUUID() as RepositoryId, 'Nobody.', 1);
    },
  );

  inStore('repositories are listed by host, owner and name, in the order of bytes', async ({ store, repositories }) => {
    const { id: organizationId } = await storeOrganization(store);
    const references = [
      ['b', 'a', 'a'],
      ['a', 'b', 'a'],
      ['a', 'a', 'b'],
      ['a', 'a', 'B'],
      ['a', 'a', '\u{ff21}'],
      ['a', 'a', '\u{1f600}'],
    ] as const;
    for (const [host, owner, name] of references) {
      await repositories.save(aRepository({ organizationId, host, owner, name }));
    }
    const listed = (await repositories.list(organizationId)).map(({ host, owner, name }) =>
      [host, owner, name].join(' '),
    );
    assert.deepEqual(listed, ['a a B', 'a a b', 'a a \u{ff21}', 'a a \u{1f600}', 'a b a', 'b a a']);
  });

  inRepository('a renamed one keeps everything but its name', async ({ store, repositories, repository }) => {
    const { organizationId, id } = repository;
    const ref = { host: 'git.example', owner: 'acme-inc', name: repository.name };
    assert.equal(await repositories.rename(id, ref, NOON + 5), 'renamed');
    assert.equal(await repositories.find(organizationId, repository), undefined);
    assert.deepEqual(await repositories.find(organizationId, ref), { ...repository, ...ref, updatedAt: NOON + 5 });
    assert.equal(await repositories.rename(id, ref, NOON + 6), 'renamed');
    const other = await storeRepository(store, { organizationId });
    assert.equal(await repositories.rename(other.id, ref, NOON), 'taken');
    assert.deepEqual(await repositories.find(organizationId, other), other);
    // Another organization may have one of that name.
    const elsewhere = await storeRepository(store);
    assert.equal(await repositories.rename(elsewhere.id, ref, NOON), 'renamed');
    await repositories.remove(id);
    assert.equal(await repositories.rename(id, ref, NOON), 'gone');
  });

  inStore('a repository with a queue stays', async ({ store, repositories, queues }) => {
    const isStored = async (id: RepositoryId) => (await repositories.listAll()).some((each) => each.id === id);
    const queue = await storeQueue(store);
    assert.equal(await repositories.remove(queue.repositoryId), 'has_queues');
    assert.ok(await isStored(queue.repositoryId));
    assert.equal(await queues.delete(queue.id, 1, { at: NOON, by: 'ada' }), 'deleted');
    assert.equal(await repositories.remove(queue.repositoryId), 'removed');
    assert.equal(await isStored(queue.repositoryId), false);
    assert.equal(await repositories.remove(queue.repositoryId), 'removed');
  });

  inRepository(
    'its tests go with it',
    async ({ store, repositories, tests, repository, uploads, testSettings, testIngest }) => {
      const row = aTest(repository.id, { quarantinedAt: NOON });
      const upload = await uploads.create(anUpload(repository.id), 0);
      await testSettings.save(
        repository.id,
        0,
        { settings: DEFAULT_TEST_SETTINGS, monitors: [] },
        { at: NOON, actor: 'ada', detail: '{}' },
      );
      await applyResults(store, { repositoryId: repository.id, tests: [row], runs: [aFailure(row.id)] });
      await repositories.remove(repository.id);
      await repositories.save(repository);
      const query = { repositoryId: repository.id, watermark: 9, offset: 0, limit: 9 };
      assert.equal(await tests.getWatermark(repository.id), 0);
      assert.equal(await tests.find(repository.id, row.id), undefined);
      assert.equal((await tests.listQuarantined(query)).totalRows, 0);
      assert.equal((await tests.listFailing({ ...query, from: 0, until: NOON + 1 })).totalRows, 0);
      assert.deepEqual((await testIngest.loadRange(repository.id, 0, 9)).known, []);
      assert.deepEqual(await testIngest.listUncounted(repository.id), []);
      assert.equal(await uploads.find(upload.id), undefined);
      assert.equal(await uploads.getWatermark(repository.id), 0);
      assert.equal(await testSettings.find(repository.id), undefined);
      assert.deepEqual(await testSettings.listChanges(repository.id, 9), []);
    },
  );

  inRepository('a public name stays bound to its first repository, also when that is gone', async (world) => {
    const { repositories, id } = world;
    const name = `org/local/acme/${id}`;
    await repositories.bindPublicName(name, id);
    await repositories.bindPublicName(name, 'another' as RepositoryId);
    await repositories.remove(id);
    assert.equal((await repositories.listPublicNames()).get(name), id);
    await repositories.releasePublicName(name);
    assert.equal((await repositories.listPublicNames()).has(name), false);
  });

  inRepository(
    'a queue cannot be created while its repository is removed',
    async ({ repositories, queues, id: repositoryId }) => {
      const queue = aQueue({ repositoryId });
      const [removed, created] = await Promise.allSettled([
        repositories.remove(repositoryId),
        queues.create(queue, anEvent(1)),
      ]);
      assert.equal(removed.status, 'fulfilled');
      const isRemoved = removed.status === 'fulfilled' && removed.value === 'removed';
      assert.equal(created.status, isRemoved ? 'rejected' : 'fulfilled');
      assert.equal((await queues.find(repositoryId, 'main')) === undefined, isRemoved);
    },
  );
}
