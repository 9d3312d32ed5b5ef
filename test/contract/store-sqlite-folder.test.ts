import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import { createFolder, isFault, openStore } from './store-folder.ts';
import { aCommit, anEntry, storeQueue } from './store-world.ts';

describe('the folder of a SQLite store', () => {
  test('is created for its owner alone', async (t) => {
    const directory = join(await createFolder(t), 'deep', 'data');
    await openStore(t, directory);
    assert.equal((await stat(directory)).mode & 0o777, 0o700);
  });

  test('serves one store at a time', async (t) => {
    const directory = await createFolder(t);
    const first = await openStore(t, directory);
    await assert.rejects(openSqliteStore({ directory }), isFault('STORE_LOCKED', new RegExp(directory)));
    await first.ping();
    await first.close();
    await openStore(t, directory);
  });

  test('is refused where a file has its place', async (t) => {
    const directory = join(await createFolder(t), 'data');
    await writeFile(directory, '');
    const fault = isFault('STORE_UNAVAILABLE', /there is a file in its place/);
    await assert.rejects(openSqliteStore({ directory }), fault);
    await assert.rejects(openSqliteStore({ directory: join(directory, 'deeper') }), fault);
  });

  const isRoot = process.getuid?.() === 0;
  test('is refused where it cannot be written', { skip: isRoot && 'root may write anywhere' }, async (t) => {
    const directory = join(await createFolder(t), 'data');
    await mkdir(directory, { mode: 0o500 });
    await assert.rejects(openSqliteStore({ directory }), isFault('STORE_UNAVAILABLE', new RegExp(directory)));
  });

  test('is refused where its database is damaged, and stays free', async (t) => {
    const directory = await createFolder(t);
    await writeFile(join(directory, 'sluice.db'), 'These are not the bytes of a database. '.repeat(200));
    const fault = isFault('STORE_UNAVAILABLE', /sluice\.db cannot be used: its file is not a database/);
    await assert.rejects(openSqliteStore({ directory }), fault);
    await assert.rejects(openSqliteStore({ directory }), fault);
  });

  test('is refused where its database is of something else', async (t) => {
    const directory = await createFolder(t);
    const foreign = new DatabaseSync(join(directory, 'sluice.db'));
    foreign.exec('create table recipes (name text)');
    foreign.close();
    await assert.rejects(openSqliteStore({ directory }), isFault('STORE_UNAVAILABLE', /not one of Sluice/));
  });
});

describe('commits to a SQLite store within one turn', () => {
  test('may follow each other', async (t) => {
    const { queues, ...store } = await openStore(t, await createFolder(t));
    const { id } = await storeQueue({ queues, ...store });
    const outcomes = await Promise.all([1, 2, 2, 3, 7].map((version) => queues.commit(aCommit(id, version))));
    assert.deepEqual(outcomes, ['committed', 'committed', 'stale', 'committed', 'stale']);
    assert.equal(await queues.findVersion(id), 4);
  });

  test('that the database refuses take nobody along', async (t) => {
    const store = await openStore(t, await createFolder(t));
    const { id } = await storeQueue(store);
    const other = await storeQueue(store);
    await store.queues.commit(aCommit(id, 1, { entries: [anEntry(id, 1)] }));
    const outcomes = await Promise.allSettled([
      store.queues.commit(aCommit(id, 2)),
      store.queues.commit(aCommit(id, 3, { entries: [anEntry(id, 8), anEntry(id, 1)] })),
      store.queues.commit(aCommit(id, 3)),
      store.queues.commit(aCommit(other.id, 1)),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    );
    assert.equal(await store.queues.findVersion(id), 4);
    assert.equal(await store.queues.findEntry(id, 8), undefined);
    assert.equal(await store.queues.findVersion(other.id), 2);
  });
});
