// The queries of docs/querying-runs.md, run on both stores.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import type { Store } from '../src/storage/store.ts';
import type { StoredRun } from '../src/storage/test-ingest.ts';
import { createFolder, openStore } from './contract/store-folder.ts';
import { aChange, aMemory, aStoredRun, facts } from './contract/store-ingest.ts';
import { createDatabase, openPostgres, query } from './helpers/postgres.ts';
import { anOrganization, aRepository, aTest, aToken } from './helpers/store-rows.ts';

const START = 1_790_000_000_000;
const SHA = '5f1d7a0c3b9e8d2f4a6c1b0e9d8f7a6b5c4d3e2f';

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

async function openSqlite(t: TestContext): Promise<Query> {
  const directory = await createFolder(t);
  await fill(await openStore(t, directory));
  const db = new DatabaseSync(join(directory, 'sluice.db'), { readOnly: true });
  t.after(() => db.close());
  return async (text) => db.prepare(text).all();
}

async function openOnPostgres(t: TestContext): Promise<Query> {
  const url = await createDatabase();
  await fill(await openPostgres(t, url));
  return (text) => query(url, [text]);
}

/** Two uploads of two tests to acme/shop, and one to another repository. */
async function fill(store: Store): Promise<void> {
  const organization = anOrganization();
  const { id: organizationId } = organization;
  await store.accounts.createOrganization(organization, aToken({ organizationId, origin: 'first' }));
  for (const name of ['shop', 'other']) {
    const { id } = await store.repositories.save(aRepository({ organizationId, owner: 'acme', name }));
    const tests = [
      aTest(id, { no: 1, name: `${name === 'shop' ? 'pays with a coupon' : 'waits'}`, file: 'pay.ts' }),
      aTest(id, { no: 2, name: 'lists orders', file: 'list.ts' }),
    ];
    const memories = tests.map(({ no }) => aMemory(no));
    await store.testIngest.commit(aChange(id, 0, { tests, memories }), START);
    const upload = (seq: number, of: Parameters<typeof facts>[0], runs: readonly StoredRun[]) =>
      store.testIngest.commit(aChange(id, seq, { batch: { facts: facts(of), runs } }), START);
    const run = (testNo: number, durationMs: number, values: Partial<StoredRun> = {}) =>
      aStoredRun(testNo, { startedAt: START, durationMs, ...values });
    await upload(1, { branch: 'main', jobName: 'unit' }, [
      run(1, 20),
      run(2, 3),
      run(2, 900, { startedAt: START - 1 }),
    ]);
    const failed = { branch: 'coupons', jobName: 'e2e', sha: name === 'shop' ? SHA : 'x' };
    await upload(2, failed, [run(1, 40, { conclusion: 'FAILURE' }), run(1, 50), run(2, 5, { conclusion: 'SKIPPED' })]);
  }
}

const EXPECTED: readonly (readonly (readonly (string | number)[])[])[] = [
  [
    ['pay.ts', 'pays with a coupon', 3, 37],
    ['list.ts', 'lists orders', 2, 4],
  ],
  [
    ['coupons', 2, 1],
    ['main', 1, 0],
  ],
  [
    ['e2e', 'lists orders', 'SKIPPED', 5],
    ['e2e', 'pays with a coupon', 'FAILURE', 40],
  ],
];

for (const [name, open] of Object.entries({ SQLite: openSqlite, PostgreSQL: openOnPostgres })) {
  describe(`the queries of docs/querying-runs.md on ${name}`, () => {
    test('answer', async (t) => {
      const query = await open(t);
      const text = await readFile(new URL('../docs/querying-runs.md', import.meta.url), 'utf8');
      const queries = [...text.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, found]) => found ?? '');
      const answers: unknown[][][] = [];
      for (const each of queries) answers.push((await query(each)).map((row) => Object.values(row).map(toNumber)));
      assert.deepEqual(answers, EXPECTED);
    });
  });
}

/** PostgreSQL answers counts and averages as texts. */
function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}
