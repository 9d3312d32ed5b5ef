import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { STORE_CHILD } from '../../../test/contract/store-child.ts';
import { createFolder, isFault, openStore } from '../../../test/contract/store-folder.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aCommit, anEntry, storeQueue } from '../../../test/helpers/store-rows.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

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

  test('is refused where its database has lost its content, which stays as it is [D10]', async (t) => {
    const directory = await createFolder(t);
    const file = join(directory, 'sluice.db');
    await (await openSqliteStore({ directory })).close();
    await writeFile(file, '');
    await assert.rejects(openSqliteStore({ directory }), isFault('STORE_UNAVAILABLE', /is empty \(0 bytes\).*backup/));
    assert.equal((await stat(file)).size, 0);
    await rm(file);
    await openStore(t, directory);
  });

  test('is used where a first start died before its database was made [D10]', async (t) => {
    const directory = await createFolder(t);
    await writeFile(join(directory, 'sluice.db-new'), 'half of it');
    await openStore(t, directory);
    assert.ok(!(await readdir(directory)).includes('sluice.db-new'));
  });

  const isRoot = process.getuid?.() === 0;
  test('is refused where it cannot be written', { skip: isRoot && 'root may write anywhere' }, async (t) => {
    const directory = join(await createFolder(t), 'data');
    await mkdir(directory, { mode: 0o500 });
    await assert.rejects(openSqliteStore({ directory }), isFault('STORE_UNAVAILABLE', /no permission/));
    await assert.rejects(
      openSqliteStore({ directory: join(directory, 'deeper') }),
      isFault('STORE_UNAVAILABLE', /no permission/),
    );
  });

  const hasProc = existsSync('/proc/self');
  test('is refused where no folder can be made', { skip: !hasProc && 'there is no /proc' }, async () => {
    const fault = isFault('STORE_UNAVAILABLE', /^The data folder \/proc\/nope.* cannot be used: no folder can be made/);
    await assert.rejects(openSqliteStore({ directory: '/proc/nope' }), fault);
    await assert.rejects(openSqliteStore({ directory: '/proc/nope/deeper' }), fault);
  });

  const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
  test('is refused on a read-only file system', { skip: !canMount && 'nothing can be mounted' }, async (t) => {
    const folder = await createFolder(t);
    await (await openSqliteStore({ directory: join(folder, 'data') })).close();
    for (const name of ['data', 'new']) {
      const mounted = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"';
      const command = [process.execPath, STORE_CHILD, 'hold', join(folder, name)];
      const { stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', mounted, 'sh', folder, ...command]);
      assert.match(String(stderr), /STORE_UNAVAILABLE: The data folder .* cannot be used: .* read-only\./);
    }
  });

  for (const umask of [0, 0o027, 0o777]) {
    test(`has files for its owner alone, with the umask ${umask.toString(8)}`, async (t) => {
      const folder = await createFolder(t);
      const directory = join(folder, 'data');
      await mkdir(directory);
      await chmod(directory, 0o755);
      const before = process.umask(umask);
      t.after(() => process.umask(before));
      const store = await openStore(t, directory);
      const queue = await storeQueue(store);
      const backup = join(folder, 'made', 'deep', 'backup');
      await store.snapshots?.backup(backup);
      await store.snapshots?.restore(backup);
      assert.equal(await store.queues.findVersion(queue.id), 1);
      const kept = (await readdir(join(directory, 'backups'))).map((name) => join('backups', name));
      const names = ['sluice.db', 'sluice.db-wal', 'sluice.db-shm', 'lock.db', 'lock.db-journal', ...kept];
      for (const file of [...names.map((name) => join(directory, name)), backup]) {
        assert.equal(((await stat(file)).mode & 0o777).toString(8), '600', file);
      }
      for (const made of [join(folder, 'made'), join(folder, 'made', 'deep'), join(directory, 'backups')]) {
        assert.equal(((await stat(made)).mode & 0o777).toString(8), '700', made);
      }
    });
  }

  test('has its files closed to others where they were open', async (t) => {
    const directory = await createFolder(t);
    await (await openStore(t, directory)).close();
    const files = ['sluice.db', 'lock.db'].map((name) => join(directory, name));
    for (const file of files) await chmod(file, 0o644);
    await openStore(t, directory);
    for (const file of [...files, join(directory, 'sluice.db-wal')]) {
      assert.equal((await stat(file)).mode & 0o777, 0o600, file);
    }
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
    assert.deepEqual(pluck(outcomes, 'status'), ['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    assert.equal(await store.queues.findVersion(id), 4);
    assert.equal(await store.queueRecords.findEntry(id, 8), undefined);
    assert.equal(await store.queues.findVersion(other.id), 2);
  });
});
