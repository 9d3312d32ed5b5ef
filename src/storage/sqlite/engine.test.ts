import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createFolder, isFault, openStore } from '../../../test/contract/store-folder.ts';
import { aChange } from '../../../test/contract/store-ingest.ts';
import { anOutcome } from '../../../test/contract/store-uploads.ts';
import { anUpload } from '../../../test/helpers/an-upload.ts';
import { aFailure, aTest, NOON, storeRepository } from '../../../test/helpers/store-rows.ts';
import { applyResults } from '../../../test/helpers/test-results.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { all, execute } from '../sql/operation.ts';
import { StatementCompiler } from '../sql/statement.ts';
import { openDatabase } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { openSqliteIngestStore } from './open-sqlite-store.ts';

describe('a second connection to SQLite, for taking in results', () => {
  test('sees what the first stores, and the first what it stores', async (t) => {
    const directory = await createFolder(t);
    const store = await openStore(t, directory);
    const ingest = await openSqliteIngestStore({ directory });
    t.after(() => ingest.close());
    const { id } = await storeRepository(store);
    const upload = await store.uploads.create(anUpload(id), 0);
    assert.deepEqual(await ingest.uploadWork.claim('x', NOON, NOON + 9), upload);
    const row = aTest(id, { quarantinedAt: NOON });
    await applyResults(ingest, { repositoryId: id, tests: [row], runs: [aFailure(row.id)] });
    assert.equal(await ingest.testIngest.commit(aChange(id, 1, { upload: anOutcome(upload.id) }), NOON), 2);
    assert.equal(await store.testIngest.commit(aChange(id, 1), NOON), undefined);
    assert.equal((await store.uploads.find(upload.id))?.status, 'PROCESSED');
    assert.deepEqual((await store.tests.listQuarantinedIds(id)).ids, [row.id]);
    assert.deepEqual(ingest.signingKey, store.signingKey);
  });

  test('both write at the same time', async (t) => {
    const directory = await createFolder(t);
    const store = await openStore(t, directory);
    const ingest = await openSqliteIngestStore({ directory });
    t.after(() => ingest.close());
    const { id } = await storeRepository(store);
    await Promise.all(
      [store, ingest, store, ingest].map(async (each) => {
        for (let n = 0; n < 15; n++) await applyResults(each, { repositoryId: id, tests: [aTest(id)], runs: [] });
      }),
    );
    assert.equal(await store.tests.getWatermark(id), 60);
    assert.equal((await ingest.testIngest.load(id, [])).nextTestNo, 61);
  });
});

describe('a connection to SQLite beside another', () => {
  const compiler = new StatementCompiler(sqliteDialect);
  const list = compiler.sql('select name from meta order by name');
  const add = compiler.sql(`insert into meta (name, value) values (:name, '')`);

  test('waits for the disk unless a write need not', async (t) => {
    const directory = await createFolder(t);
    await (await openStore(t, directory)).close();
    const database = openDatabase(join(directory, 'sluice.db'));
    const engine = new SqliteEngine(database);
    t.after(() => engine.close());
    const synchronous = () => database.prepare('PRAGMA synchronous').get()?.['synchronous'];
    await engine.writeUnsynced(() => execute(add, { name: 'a1' }));
    assert.equal(synchronous(), 1);
    await Promise.all([
      engine.writeUnsynced(() => execute(add, { name: 'a2' })),
      engine.write(() => execute(add, { name: 'a3' })),
    ]);
    assert.equal(synchronous(), 2);
    const names = await engine.read(() => all(list, {}));
    assert.deepEqual(
      names.flatMap(({ name }) => (name.startsWith('a') ? [name] : [])),
      ['a1', 'a2', 'a3'],
    );
  });

  test('reads one state in a snapshot, whatever the other writes meanwhile', async (t) => {
    const directory = await createFolder(t);
    await openStore(t, directory);
    const file = join(directory, 'sluice.db');
    const engine = new SqliteEngine(openDatabase(file));
    t.after(() => engine.close());
    const other = new DatabaseSync(file);
    t.after(() => other.close());
    const [before, after] = await engine.snapshot(function* () {
      const names = yield* all(list, {});
      other.exec(`insert into meta values ('meanwhile', '')`);
      return [names, yield* all(list, {})];
    });
    assert.deepEqual(after, before);
    assert.equal((await engine.snapshot(() => all(list, {}))).length, before.length + 1);
  });

  test('refuses a write when the other holds the database too long, and writes again afterwards', async (t) => {
    const directory = await createFolder(t);
    await openStore(t, directory);
    const file = join(directory, 'sluice.db');
    const engine = new SqliteEngine(openDatabase(file, { busyTimeoutMs: 10, logPages: 1000, isSynced: true }));
    t.after(() => engine.close());
    const other = new DatabaseSync(file);
    t.after(() => other.close());
    other.exec('begin immediate');
    const write = () => engine.write(() => execute(add, { name: 'one' }));
    await assert.rejects(write(), isFault('STORE_UNAVAILABLE', /another process keeps it locked/));
    other.exec('rollback');
    assert.equal(await write(), 1);
  });
});
