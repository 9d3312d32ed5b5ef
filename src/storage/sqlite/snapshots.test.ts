import assert from 'node:assert/strict';
import { copyFile, link, open, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { createFolder, isFault, openStore } from '../../../test/contract/store-folder.ts';
import {
  aCommit,
  anEntry,
  anOrganization,
  aStepDraft,
  aToken,
  storeOrganization,
  storeQueue,
} from '../../../test/helpers/store-rows.ts';
import type { Organization } from '../accounts.ts';
import type { CopyProgress, SnapshotStore, Store } from '../store.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

function snapshotsOf(store: Store): SnapshotStore {
  assert.ok(store.snapshots);
  return store.snapshots;
}

/** A store with one queue, in a folder that has room for backups beside it. */
async function createScene(t: TestContext) {
  const folder = await createFolder(t);
  const directory = join(folder, 'data');
  const store = await openStore(t, directory);
  const { id } = await storeQueue(store);
  return { folder, directory, store, id, snapshots: snapshotsOf(store), file: join(folder, 'backup') };
}

describe('a backup of a SQLite store', () => {
  test('is one file, and one state, whatever is committed meanwhile', async (t) => {
    const { folder, store, id, snapshots, file } = await createScene(t);
    const entries = Array.from({ length: 200 }, (_, index) => anEntry(id, index + 1, { body: 'x'.repeat(40_000) }));
    await store.queues.commit(aCommit(id, 1, { entries }));

    let isDone = false;
    const steps: CopyProgress[] = [];
    const backing = snapshots
      .backup(file, (progress) => steps.push(progress))
      .finally(() => {
        isDone = true;
      });
    let version = 2;
    while (!isDone) {
      await store.queues.commit(
        aCommit(id, version, { entries: [anEntry(id, 1000 + version, { version: version + 1 })] }),
      );
      version += 1;
    }
    const { sizeBytes } = await backing;
    const { copiedPages, totalPages } = steps.at(-1) ?? assert.fail();
    assert.ok(steps.length > 2 && copiedPages > 0 && copiedPages < totalPages, 'it said how far it was');
    assert.ok(version > 3, 'commits went on');
    assert.equal(sizeBytes, (await stat(file)).size);
    assert.deepEqual((await readdir(folder)).sort(), ['backup', 'data']);

    await snapshots.restore(file);
    const loaded = await store.queues.load(id);
    assert.ok(loaded !== undefined && loaded.queue.version < version);
    assert.equal(loaded.entries.length, 200 + loaded.queue.version - 2);
  });

  test('replaces no file', async (t) => {
    const { folder, snapshots, file } = await createScene(t);
    await writeFile(file, 'precious');
    await assert.rejects(snapshots.backup(file), isFault('BACKUP_UNUSABLE', /already a file/));
    assert.equal(await readFile(file, 'utf8'), 'precious');
    const below = join(file, 'cannot', 'be');
    await assert.rejects(snapshots.backup(below), isFault('BACKUP_UNUSABLE', /a file in its place/));
    const endless = join(folder, 'x'.repeat(4000));
    await assert.rejects(snapshots.backup(endless), isFault('BACKUP_UNUSABLE', /too long/));
    assert.deepEqual((await readdir(folder)).sort(), ['backup', 'data']);
  });
});

describe('a restore of a SQLite store', () => {
  test('keeps a token, in its organization or else in the oldest one [A30]', async (t) => {
    const { store, snapshots, file } = await createScene(t);
    const named = await storeOrganization(store, { slug: 'named', createdAt: 5 });
    const administrator = aToken({ organizationId: named.id, scopes: ['admin', 'instance'] });
    await store.accounts.insertToken(administrator);
    await snapshots.backup(file);
    const carried = async (organization: Organization) => {
      const token = aToken({ organizationId: organization.id, scopes: ['admin', 'instance'] });
      await snapshots.restore(file, { token, organization });
      return (await store.accounts.findToken(token.hash))?.organization.slug;
    };
    assert.equal(await carried({ ...named, slug: 'renamed' }), 'named');
    assert.equal(await carried(anOrganization({ slug: 'named' })), 'named');
    assert.equal(await carried(anOrganization()), 'named');
    await snapshots.restore(file, { token: { ...administrator, name: 'another' }, organization: named });
    assert.equal((await store.accounts.findToken(administrator.hash))?.token.name, administrator.name);
  });

  test('gives later events places beyond those that readers saw before it [X55]', async (t) => {
    const { store, snapshots, file } = await createScene(t);
    const { id: organizationId } = await storeOrganization(store);
    await store.accounts.insertToken(aToken({ organizationId, scopes: ['instance'] }));
    const nowhere = { repositoryId: null, queueId: null, targetBranch: null, prNumber: null, testId: null };
    const happen = async (source: string) => {
      const event = { source, version: 1, ordinal: 0, at: 1, type: 'note', organizationId, ...nowhere, body: '{}' };
      await store.feed.add([event]);
      await store.feed.sequence(() => null, 9);
      return (await store.feed.getHead(organizationId)).lastSeq;
    };
    await snapshots.backup(file);
    const seen = [await happen('a'), await happen('b')];
    assert.deepEqual(seen, [1, 2]);
    for (const source of ['c', 'd']) {
      await snapshots.restore(file);
      const place = await happen(source);
      assert.ok(place > Math.max(...seen) && place < 1e15, `${place}`);
      const query = { organizationId, repositoryIds: null, order: 'ASC', limit: 9 } as const;
      const [next] = await store.feed.list({ ...query, afterSeq: Math.max(...seen) });
      assert.equal(next?.source, source);
      seen.push(1, 2);
    }
  });

  test('gives later candidates numbers that none had before it, also when the file was put in place by hand [C11]', async (t) => {
    const folder = await createFolder(t);
    const directory = join(folder, 'data');
    const store = await openStore(t, directory);
    const { id } = await storeQueue(store, { body: '{"candidatesEver":3,"more":[1.5]}' });
    const { id: organizationId } = await storeOrganization(store);
    await store.accounts.insertToken(aToken({ organizationId, scopes: ['instance'] }));
    const file = join(folder, 'backup');
    await snapshotsOf(store).backup(file);
    const read = async (on: Store) => JSON.parse((await on.queues.load(id))?.queue.body ?? '{}');
    assert.equal((await read(store)).candidatesEver, 3);
    await snapshotsOf(store).restore(file);
    const { candidatesEver, more } = await read(store);
    assert.ok(candidatesEver > 2e8 && candidatesEver < 2 ** 32, `${candidatesEver}`);
    assert.deepEqual(more, [1.5]);

    const other = join(folder, 'other');
    await (await openSqliteStore({ directory: other })).close();
    await copyFile(file, join(other, 'sluice.db'));
    const copied = await openStore(t, other);
    assert.ok((await read(copied)).candidatesEver > 2e8);
  });

  test('brings everything back, and is there after a restart', async (t) => {
    const folder = await createFolder(t);
    const other = await openStore(t, join(folder, 'other'));
    const queue = await storeQueue(other);
    const key = { candidateId: 'c', check: 'unit' };
    const output = Uint8Array.from(Buffer.from('ok\n'.repeat(400)));
    await other.logs.append(key, output, 1);
    const alarm = { id: 'a', queueId: queue.id, code: 'FOREIGN_PUSH', text: 'why', at: 1 };
    await other.alarms.raise(alarm);
    await other.alarms.setMark(queue.id, { sha: null, version: 1, at: 1 }, undefined);
    await other.repositories.identify(queue.repositoryId, '12');
    const told = await storeQueue(other, { repositoryId: queue.repositoryId, branch: 'told' });
    await other.queues.commit(aCommit(told.id, 1, { feed: [aStepDraft(told)] }));
    const file = join(folder, 'backup');
    await snapshotsOf(other).backup(file);

    const directory = join(folder, 'data');
    const store = await openSqliteStore({ directory });
    const lost = await storeQueue(store);
    assert.deepEqual(await store.feed.sequence(() => null, 9), []);
    await snapshotsOf(store).restore(file);
    assert.equal((await store.feed.sequence(() => null, 9)).length, 1);
    assert.equal(await store.queues.load(lost.id), undefined);
    assert.deepEqual(await store.queues.find(queue.repositoryId, 'main'), queue);
    assert.deepEqual(await store.logs.read(key, 0, 9999), { bytes: output, size: output.length });
    assert.deepEqual(await store.alarms.list([queue.id], 0, 9), [{ ...alarm, endedAt: null }]);
    assert.equal((await store.alarms.findMark(queue.id))?.version, 1);
    assert.equal((await store.repositories.listAll())[0]?.forgeId, '12');
    assert.deepEqual(store.signingKey, other.signingKey);
    assert.equal(await store.queues.commit(aCommit(queue.id, 1)), 'committed');
    await store.close();

    const again = await openStore(t, directory);
    assert.equal(await again.queues.findVersion(queue.id), 2);
    assert.deepEqual(again.signingKey, other.signingKey);
  });

  test('lets commits wait, which then meet what was restored', async (t) => {
    const { store, id, snapshots, file } = await createScene(t);
    await snapshots.backup(file);
    await store.queues.commit(aCommit(id, 1));
    let isRestored = false;
    const restoring = snapshots.restore(file).then(() => {
      isRestored = true;
    });
    const outcomes: string[] = [];
    while (!isRestored) outcomes.push(await store.queues.commit(aCommit(id, 2 + outcomes.length)));
    await restoring;
    assert.equal(outcomes.at(-1), 'stale');
    assert.equal(await store.queues.findVersion(id), 1);
  });

  test('waits for another one', async (t) => {
    const { folder, store, id, snapshots } = await createScene(t);
    const files = ['first', 'second'].map((name) => join(folder, name));
    for (const [index, file] of files.entries()) {
      await snapshots.backup(file);
      await store.queues.commit(aCommit(id, index + 1));
    }
    await Promise.all(files.map((file) => snapshots.restore(file)));
    assert.equal(await store.queues.findVersion(id), 2);
  });

  test('refuses what is no backup, and changes nothing', async (t) => {
    const { folder, directory, store, id, snapshots } = await createScene(t);
    const good = join(folder, 'good');
    await snapshots.backup(good);
    const file = (name: string) => join(folder, name);
    await writeFile(file('text'), 'These are not the bytes of a database. '.repeat(200));
    await writeFile(file('empty'), '');
    const foreign = new DatabaseSync(file('foreign'));
    foreign.exec('create table recipes (name text)');
    foreign.close();
    await copyFile(good, file('newer'));
    const newer = new DatabaseSync(file('newer'));
    newer.exec("insert into migrations values (9999, 'of tomorrow', 0)");
    newer.close();
    await copyFile(good, file('damaged'));
    await overwrite(file('damaged'));
    await writeFile(file('cut'), (await readFile(good)).subarray(0, 20_000));

    const reasons = {
      missing: /cannot be read/,
      text: /not a backup of Sluice/,
      empty: /not a backup of Sluice/,
      foreign: /not a backup of Sluice/,
      newer: /newer version/,
      damaged: /damaged/,
      cut: /damaged/,
    };
    for (const [name, reason] of Object.entries(reasons)) {
      await assert.rejects(snapshots.restore(file(name)), isFault('BACKUP_UNUSABLE', reason), name);
    }
    assert.equal(await store.queues.findVersion(id), 1);
    assert.ok(!(await readdir(directory)).includes('restore.db'));
  });
});

describe('a restore that would leave a server nobody can use', () => {
  test('is refused where the file is one of the server itself', async (t) => {
    const { folder, directory, store, id, snapshots } = await createScene(t);
    await symlink(directory, join(folder, 'linked'));
    await link(join(directory, 'sluice.db'), join(folder, 'hard'));
    const own = ['sluice.db', 'sluice.db-wal', 'sluice.db-shm', 'lock.db'].map((name) => join(directory, name));
    const fault = isFault('BACKUP_UNUSABLE', /this server's own/);
    for (const file of [...own, join(folder, 'linked', 'sluice.db'), join(folder, 'hard')]) {
      await assert.rejects(snapshots.restore(file), fault, file);
    }
    assert.equal(await store.queues.findVersion(id), 1);
    await assert.rejects(openSqliteStore({ directory }), isFault('STORE_LOCKED', /already uses/));
  });

  test('is refused where tables, organizations or a token for the instance are missing', async (t) => {
    const { folder, directory, store, id, snapshots } = await createScene(t);
    const good = join(folder, 'good');
    await snapshots.backup(good);
    const changes: Record<string, readonly [sql: string, reason: RegExp]> = {
      unlogged: ['drop table migrations', /no tables of Sluice/],
      unmigrated: ['delete from migrations', /no tables of Sluice/],
      deserted: [
        'delete from queues; delete from repositories; delete from tokens; delete from organizations',
        /no org/,
      ],
      tokenless: ['delete from tokens', /no valid token with the scope instance/],
      revoked: ['update tokens set revoked_at = 1', /no valid token/],
      expired: ['update tokens set expires_at = 1', /no valid token/],
      weak: [`update tokens set scopes = '["read","admin"]', name = 'instance'`, /no valid token/],
    };
    for (const [name, [sql, reason]] of Object.entries(changes)) {
      const file = join(folder, name);
      await copyFile(good, file);
      const db = new DatabaseSync(file);
      db.exec(sql);
      db.close();
      await assert.rejects(snapshots.restore(file), isFault('BACKUP_UNUSABLE', reason), name);
    }
    const bare = join(folder, 'bare');
    const other = join(folder, 'other');
    const fresh = await openStore(t, other);
    await storeQueue(fresh);
    await copyFile(join(other, 'sluice.db'), bare);
    await assert.rejects(snapshots.restore(bare), isFault('BACKUP_UNUSABLE', /cannot be used/));
    assert.equal(await store.queues.findVersion(id), 1);
    assert.ok(!(await readdir(directory)).includes('backups'), 'nothing was replaced');
  });
});

describe('a store that is replaced by a restore', () => {
  test('is kept, and can itself be restored', async (t) => {
    const { directory, store, id, snapshots, file } = await createScene(t);
    await snapshots.backup(file);
    await store.queues.commit(aCommit(id, 1));
    await snapshots.restore(file);
    assert.equal(await store.queues.findVersion(id), 1);
    const [kept = ''] = await readdir(join(directory, 'backups'));
    assert.match(kept, /^before-restore-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.db$/);
    await snapshots.restore(join(directory, 'backups', kept));
    assert.equal(await store.queues.findVersion(id), 2);
  });

  test('is kept for the three newest restores, and nothing else is removed', async (t) => {
    const { directory, snapshots } = await createScene(t);
    const file = join(directory, 'backups', 'before-restore-mine.db');
    await snapshots.backup(file);
    let newest = '';
    for (let index = 0; index < 5; index++) {
      await snapshots.restore(file);
      const [last = ''] = (await readdir(join(directory, 'backups')))
        .filter((name) => name !== 'before-restore-mine.db')
        .sort()
        .slice(-1);
      assert.ok(last > newest);
      newest = last;
    }
    const names = await readdir(join(directory, 'backups'));
    assert.equal(names.length, 4);
    assert.ok(names.includes('before-restore-mine.db') && names.includes(newest));
  });

  test('is replaced only if it can be kept', async (t) => {
    const { directory, store, id, snapshots, file } = await createScene(t);
    await snapshots.backup(file);
    await store.queues.commit(aCommit(id, 1));
    await writeFile(join(directory, 'backups'), '');
    await assert.rejects(snapshots.restore(file), isFault('STORE_UNAVAILABLE', /cannot be kept/));
    assert.equal(await store.queues.findVersion(id), 2);
  });

  test('is not mixed with what a killed restore left behind', async (t) => {
    const folder = await createFolder(t);
    const directory = join(folder, 'data');
    const first = await openStore(t, directory);
    await first.close();
    for (const suffix of ['', '-wal', '-shm', '-journal']) await writeFile(join(directory, `restore.db${suffix}`), 'x');
    await openStore(t, directory);
    assert.deepEqual((await readdir(directory)).sort(), [
      ...['ingest-lock.db', 'lock.db', 'lock.db-journal', 'sluice.db', 'sluice.db-shm', 'sluice.db-wal'],
    ]);
  });
});

/** All pages after the first. */
async function overwrite(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  const { size } = await handle.stat();
  await handle.write(Buffer.alloc(size - 4096, 0x5a), 0, size - 4096, 4096);
  await handle.close();
}
