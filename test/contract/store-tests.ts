import assert from 'node:assert/strict';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import type { TestRow } from '../../src/storage/tests.ts';
import { aFailure, aRun, aTest, NOON, storeRepository } from '../helpers/store-rows.ts';
import { applyResults, type TestRunRow } from '../helpers/test-results.ts';
import type { StoreTests } from './store-fixture.ts';

export function testPromises(tests: StoreTests): void {
  applyPromises(tests);
  failureGroupPromises(tests);
}

async function applyTo(store: Store, repositoryId: RepositoryId, tests: TestRow[], runs: TestRunRow[] = []) {
  return applyResults(store, { repositoryId, tests, runs });
}

function applyPromises({ inRepository }: StoreTests): void {
  inRepository('a test is inserted, then replaced by its id', async ({ store, tests, id }) => {
    const row = aTest(id, { parent: null, classname: null, file: null, codeowners: [] });
    await applyTo(store, id, [row]);
    assert.deepEqual(await tests.find(id, row.id), row);
    const changed = aTest(id, {
      id: row.id,
      status: 'FLAKY',
      quarantinedAt: NOON,
      ticketUrl: 'https://t/1',
      name: 'é',
    });
    await applyTo(store, id, [changed]);
    assert.deepEqual(await tests.find(id, row.id), changed);
    assert.equal(await tests.find(id, 'unknown'), undefined);
    const other = await storeRepository(store);
    assert.equal(await tests.find(other.id, row.id), undefined);
  });

  inRepository(
    'a change that cannot be stored whole is not stored, and takes no number',
    async ({ store, tests, id }) => {
      const [good, bad] = [aTest(id), aTest(id, { name: 'a\0b' })];
      await assert.rejects(applyTo(store, id, [good, bad]));
      await assert.rejects(applyTo(store, id, [good], [aRun(good.id, { branch: '\0' })]));
      await assert.rejects(applyTo(store, id, [aTest('another' as RepositoryId)]));
      await assert.rejects(applyTo(store, 'nothing' as RepositoryId, []));
      assert.equal(await tests.getWatermark(id), 0);
      assert.equal(await tests.find(id, good.id), undefined);
    },
  );
}

function failureGroupPromises({ inRepository }: StoreTests): void {
  inRepository(
    'the five most frequent ways to fail are told, the latest first among equals',
    async ({ store, id, tests }) => {
      const row = aTest(id);
      const fail = (failureGroup: string, ago: number, failureSummary = failureGroup) =>
        aFailure(row.id, { failureGroup, failureSummary, startedAt: NOON - ago });
      await applyTo(
        store,
        id,
        [row],
        [
          ...[fail('often', 9, 'before'), fail('often', 5, 'latest'), fail('often', 7, 'middle')],
          ...[fail('twice', 1), fail('twice', 2)],
          ...[fail('c', 30), fail('d', 20), fail('e', 10), fail('f', 40)],
          ...[fail('old', 101), fail('old', 102), fail('old', 103)],
        ],
      );
      const query = { repositoryId: id, testIds: [row.id], now: NOON, since: NOON - 100 };
      const [stats] = await tests.getStats(query);
      assert.deepEqual(stats?.failureGroups, [
        { summary: 'latest', occurrences: 3, lastAt: NOON - 5 },
        { summary: 'twice', occurrences: 2, lastAt: NOON - 1 },
        { summary: 'e', occurrences: 1, lastAt: NOON - 10 },
        { summary: 'd', occurrences: 1, lastAt: NOON - 20 },
        { summary: 'c', occurrences: 1, lastAt: NOON - 30 },
      ]);
    },
  );
}
