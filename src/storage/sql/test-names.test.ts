import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aChange, aMemory } from '../../../test/contract/store-ingest.ts';
import { createDatabase } from '../../../test/helpers/postgres.ts';
import { aTest, DAY_MS, NOON, storeRepository } from '../../../test/helpers/store-rows.ts';
import { openPostgresStore } from '../postgres/open-postgres-store.ts';
import { createMemoryStore } from '../sqlite/create-memory-store.ts';

const openPostgres = async () => openPostgresStore({ url: await createDatabase() });

for (const [name, open] of Object.entries({ SQLite: createMemoryStore, PostgreSQL: openPostgres })) {
  describe(`names of tests: ${name}`, () => {
    test('are searched as they are now: new, renamed and forgotten tests [F60]', async () => {
      const store = await open();
      const { id } = await storeRepository(store);
      const rows = ['adds carts', 'adds items', 'pays'].map((text, index) => aTest(id, { no: index + 1, name: text }));
      const at = [NOON, NOON - 2 * DAY_MS, NOON];
      const commit = (seq: number, tests: typeof rows) =>
        store.testIngest.commit(
          aChange(id, seq, {
            tests,
            memories: tests.map(({ no }) => aMemory(no, { seq: seq + 1, lastRunAt: at[no - 1] ?? NOON })),
          }),
          NOON,
        );
      const find = async (text: string) => {
        const query = { repositoryId: id, order: 'FAILURES', status: null, isQuarantined: null, owner: null } as const;
        const { tests, totalRows } = await store.tests.rank({ ...query, text, offset: 0, limit: 10 });
        assert.equal(totalRows, tests.length);
        return tests.map(({ test }) => test.no);
      };
      await commit(0, rows.slice(0, 2));
      assert.deepEqual([await find('ADDS'), await find('pays')], [[1, 2], []]);
      await commit(1, rows.slice(2));
      assert.deepEqual([await find('adds'), await find('pays')], [[1, 2], [3]]);
      await commit(
        2,
        rows.slice(2).map((row) => ({ ...row, name: 'adds all up' })),
      );
      assert.deepEqual([await find('adds'), await find('pays')], [[1, 2, 3], []]);
      while ((await store.testIngest.forget(id, NOON - DAY_MS, 10)) > 0);
      assert.deepEqual(await find('adds'), [1, 3]);
      await store.close();
    });
  });
}
