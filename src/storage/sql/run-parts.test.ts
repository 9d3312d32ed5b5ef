import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { createFolder, openStore } from '../../../test/contract/store-folder.ts';
import { aChange, aMemory, aStoredRun, facts } from '../../../test/contract/store-ingest.ts';
import { createDatabase, openPostgres, query } from '../../../test/helpers/postgres.ts';
import { aTest, DAY_MS, NOON, storeRepository } from '../../../test/helpers/store-rows.ts';
import type { RepositoryId } from '../repositories.ts';
import type { Store } from '../store.ts';

interface World {
  readonly store: Store;
  query(text: string): Promise<readonly Record<string, unknown>[]>;
}

const SQLITE = async (t: TestContext): Promise<World> => {
  const directory = await createFolder(t);
  const store = await openStore(t, directory);
  const db = new DatabaseSync(join(directory, 'sluice.db'), { readOnly: true });
  t.after(() => db.close());
  return { store, query: async (text) => db.prepare(text).all() };
};

const POSTGRES = async (t: TestContext): Promise<World> => {
  const url = await createDatabase();
  return { store: await openPostgres(t, url), query: (text) => query(url, [text]) };
};

async function connect(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  return client;
}

/** Begins at the start of a period, so that days do not cross into the next one by chance. */
const START = Math.ceil(NOON / (5 * DAY_MS)) * 5 * DAY_MS;
const TESTS = 10;

async function storeTests(store: Store): Promise<RepositoryId> {
  const { id } = await storeRepository(store);
  const tests = Array.from({ length: TESTS }, (_, index) => aTest(id, { no: index + 1, firstSeenAt: START }));
  // They run on, so that retention leaves them alone.
  const memories = tests.map(({ no }) => aMemory(no, { lastRunAt: START + 1000 * DAY_MS }));
  await store.testIngest.commit(aChange(id, 0, { tests, memories }), START);
  return id;
}

/** A batch with one run of each test, at its receipt. */
async function storeBatch(store: Store, id: RepositoryId, at: number): Promise<void> {
  const runs = Array.from({ length: TESTS }, (_, index) => aStoredRun(index + 1, { startedAt: at }));
  const { seq } = await store.testIngest.load(id, []);
  const stored = await store.testIngest.commit(aChange(id, seq, { batch: { facts: facts(), runs } }), at);
  assert.equal(stored, seq + 1);
  await store.testIngest.markCounted(id, seq + 1);
}

async function forget(store: Store, id: RepositoryId, before: number): Promise<void> {
  while ((await store.testUpkeep.forget(id, before, 1000)) > 0);
}

async function purge(store: Store, limit = 1000): Promise<number> {
  let slices = 0;
  while ((await store.testUpkeep.purge(limit)) > 0) slices += 1;
  return slices;
}

const COUNTS = 'select (select count(*) from runs) as runs, (select count(*) from run_parts) as parts';

async function counts({ query }: World): Promise<readonly number[]> {
  const [row] = await query(COUNTS);
  return [Number(row?.['runs']), Number(row?.['parts'])];
}

for (const [name, open] of Object.entries({ SQLite: SQLITE, PostgreSQL: POSTGRES })) {
  describe(`parts of runs on ${name}`, () => {
    test('a part ends after 60 batches, or with its period of five days', async (t) => {
      const world = await open(t);
      const id = await storeTests(world.store);
      for (let no = 0; no < 61; no += 1) await storeBatch(world.store, id, START + no);
      await storeBatch(world.store, id, START + 5 * DAY_MS);
      const rows = await world.query('select batch_count, run_count, first_started_at, last_started_at from run_parts');
      const numbers = rows.map((row) => Object.values(row).map(Number)).sort((a, b) => (a[2] ?? 0) - (b[2] ?? 0));
      assert.deepEqual(numbers, [
        [60, 600, START, START + 59],
        [1, 10, START + 60, START + 60],
        [1, 10, START + 5 * DAY_MS, START + 5 * DAY_MS],
      ]);
      const [row] = await world.query('select count(distinct part) as parts from runs');
      assert.equal(Number(row?.['parts']), 3);
    });

    test('retention removes whole parts and keeps the others', async (t) => {
      const world = await open(t);
      const id = await storeTests(world.store);
      for (let day = 0; day < 15; day += 1) await storeBatch(world.store, id, START + day * DAY_MS);
      await forget(world.store, id, START + 7 * DAY_MS);
      assert.deepEqual(await counts(world), [150, 3]);
      const slices = await purge(world.store, 10);
      assert.deepEqual(await counts(world), [100, 2]);
      if (name === 'SQLite') assert.ok(slices > 1, `${slices} slices`);
      await forget(world.store, id, START + 100 * DAY_MS);
      await purge(world.store);
      assert.deepEqual(await counts(world), [0, 0]);
      await storeBatch(world.store, id, START + 12 * DAY_MS);
      assert.deepEqual(await counts(world), [10, 1]);
    });

    test('runs that are not counted yet keep their part', async (t) => {
      const world = await open(t);
      const { testIngest } = world.store;
      const id = await storeTests(world.store);
      const batch = { facts: facts(), runs: [aStoredRun(1, { startedAt: START })] };
      await testIngest.commit(aChange(id, 1, { batch }), START);
      await forget(world.store, id, START + 100 * DAY_MS);
      await purge(world.store);
      assert.deepEqual(await counts(world), [1, 1]);
      await testIngest.markCounted(id, 2);
      await forget(world.store, id, START + 100 * DAY_MS);
      await purge(world.store);
      assert.deepEqual(await counts(world), [0, 0]);
    });

    test('the runs of a removed repository go, and those of others stay', async (t) => {
      const world = await open(t);
      const [gone, kept] = [await storeTests(world.store), await storeTests(world.store)];
      for (const id of [gone, kept]) await storeBatch(world.store, id, START);
      assert.equal(await world.store.repositories.remove(gone), 'removed');
      for (let period = 1; period < 4; period += 1) {
        const id = await storeTests(world.store);
        await storeBatch(world.store, id, START + period * 5 * DAY_MS);
        assert.equal(await world.store.repositories.remove(id), 'removed');
      }
      await purge(world.store);
      assert.deepEqual(await counts(world), [10, 1]);
      const [row] = await world.query('select repository_id from run_parts');
      assert.equal(row?.['repository_id'], kept);
    });
  });
}

describe('partitions of runs on PostgreSQL', () => {
  const PARTITIONS = `select count(*) as count from pg_inherits where inhparent = 'runs'::regclass`;
  const countPartitions = async ({ query }: World) => Number((await query(PARTITIONS))[0]?.['count']);

  test('a period is dropped as a partition', async (t) => {
    const world = await POSTGRES(t);
    const id = await storeTests(world.store);
    for (const day of [0, 1, 5, 10]) await storeBatch(world.store, id, START + day * DAY_MS);
    assert.equal(await countPartitions(world), 3);
    await forget(world.store, id, START + 6 * DAY_MS);
    assert.equal(await purge(world.store), 0);
    assert.equal(await countPartitions(world), 1);
    assert.deepEqual(await counts(world), [10, 1]);
  });

  test('a long read, such as a backup, delays the drop and nothing else', async (t) => {
    const url = await createDatabase();
    const store = await openPostgres(t, url);
    const reader = await connect(t, url);
    const world = { store, query: async (text: string) => (await reader.query(text)).rows };
    const id = await storeTests(store);
    for (const day of [0, 5]) await storeBatch(store, id, START + day * DAY_MS);
    await reader.query('begin; lock table runs in access share mode');
    await forget(store, id, START + DAY_MS);
    assert.equal(await purge(store), 0);
    assert.equal(await countPartitions(world), 2);
    await storeBatch(store, id, START + 10 * DAY_MS);
    await reader.query('rollback');
    assert.equal(await purge(store), 0);
    assert.equal(await countPartitions(world), 2);
    assert.deepEqual(await counts(world), [20, 2]);
  });

  test('servers begin parts of one period at the same time', async (t) => {
    const url = await createDatabase();
    const [one, other] = [await openPostgres(t, url), await openPostgres(t, url)];
    const ids = await Promise.all(Array.from({ length: 6 }, () => storeTests(one)));
    await Promise.all(ids.map((id, index) => storeBatch(index % 2 === 0 ? one : other, id, START)));
    const world = { store: one, query: (text: string) => query(url, [text]) };
    assert.deepEqual(await counts(world), [60, 6]);
    assert.equal(await countPartitions(world), 1);
  });
});
