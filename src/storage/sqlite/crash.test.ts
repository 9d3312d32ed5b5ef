import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startChild } from '../../../test/contract/store-child.ts';
import { createFolder, isFault, openStore } from '../../../test/contract/store-folder.ts';
import { aCommit, anEntry, storeQueue } from '../../../test/helpers/store-rows.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

describe('a SQLite store whose server dies', () => {
  test('has every commit that was acknowledged', async (t) => {
    const directory = await createFolder(t);
    const before = await openSqliteStore({ directory });
    const queue = await storeQueue(before);
    await before.close();

    const child = startChild('commit', [directory, queue.id]);
    let acknowledged = 0;
    for await (const line of child.lines) {
      if (line !== 'open') acknowledged = Math.max(acknowledged, Number(line));
      if (acknowledged >= 500) child.kill();
    }
    assert.equal(await child.ended, 'SIGKILL');

    const after = await openStore(t, directory);
    const version = (await after.queues.findVersion(queue.id)) as number;
    assert.ok(acknowledged >= 500 && version >= acknowledged, `${acknowledged} acknowledged, ${version} there`);
    assert.equal((await after.queueRecords.listEvents(queue.id, 0, 1_000_000)).length, version);
    assert.equal((await after.queues.load(queue.id))?.entries.length, version - 1);
    assert.equal(await after.queues.commit(aCommit(queue.id, version)), 'committed');
  });

  test('leaves its folder to the next server, and not before', async (t) => {
    const directory = await createFolder(t);
    const child = startChild('hold', [directory]);
    for await (const line of child.lines) {
      assert.equal(line, 'open');
      await assert.rejects(openSqliteStore({ directory }), isFault('STORE_LOCKED', new RegExp(directory)));
      child.kill();
    }
    await child.ended;
    await openStore(t, directory);
  });

  test('during a backup leaves no file of its name [D22]', async (t) => {
    const directory = await createFolder(t);
    const file = join(directory, 'backup');
    const store = await openSqliteStore({ directory });
    const queue = await storeQueue(store);
    const entries = Array.from({ length: 100 }, (_, index) =>
      anEntry(queue.id, index + 1, { body: 'x'.repeat(50_000) }),
    );
    await store.queues.commit(aCommit(queue.id, 1, { entries }));
    await store.close();

    const child = startChild('backup-and-die', [directory, file]);
    assert.deepEqual(await child.read(), ['open']);
    assert.equal(await child.ended, 'SIGKILL');
    const names = (await readdir(directory)).filter((name) => name.startsWith('backup'));
    assert.deepEqual(
      names.map((name) => /^backup\.[0-9a-f-]{36}\.partial(-journal)?$/.test(name)).includes(false),
      false,
    );
    assert.ok(names.length > 0, 'it was killed in the middle');
    const after = await openStore(t, directory);
    await after.snapshots?.backup(file);
  });

  test('during a restore has what it had before', async (t) => {
    const directory = await createFolder(t);
    const file = join(directory, 'backup');
    const store = await openSqliteStore({ directory });
    const queue = await storeQueue(store);
    const entries = Array.from({ length: 400 }, (_, index) =>
      anEntry(queue.id, index + 1, { body: 'x'.repeat(50_000) }),
    );
    await store.queues.commit(aCommit(queue.id, 1, { entries }));
    await store.snapshots?.backup(file);
    const ended = entries.map((entry) => ({ ...entry, isLive: false, version: 3 }));
    await store.queues.commit(aCommit(queue.id, 2, { entries: ended }));
    await store.close();

    const child = startChild('restore', [directory, file]);
    const lines = await child.read();
    assert.equal(await child.ended, 'SIGKILL');
    assert.deepEqual(lines, ['open']);

    const after = await openStore(t, directory);
    assert.equal(await after.queues.findVersion(queue.id), 3);
    assert.deepEqual((await after.queues.load(queue.id))?.entries, []);
    assert.equal((await after.queueRecords.listEntries({ queueId: queue.id, limit: 999 })).length, 400);
    await after.snapshots?.restore(file);
    assert.equal((await after.queues.load(queue.id))?.entries.length, 400);
  });
});

describe('a SQLite store on a full disk', () => {
  const hasLimits = spawnSync('prlimit', ['--version']).status === 0;
  test('refuses, and goes on when there is room', { skip: !hasLimits && 'there is no prlimit' }, async (t) => {
    const directory = await createFolder(t);
    const store = await openSqliteStore({ directory });
    const queue = await storeQueue(store);
    await store.close();

    const child = startChild('fill-disk', [directory, queue.id], 4000);
    const [opened, refusal, written, outcome, version] = await child.read();
    assert.equal(opened, 'open');
    assert.match(refusal ?? '', /^STORE_UNAVAILABLE The store cannot be used: /);
    assert.deepEqual([written, outcome], ['nothing written', 'committed']);
    assert.equal(await child.ended, 0);

    const after = await openStore(t, directory);
    assert.equal(await after.queues.findVersion(queue.id), Number(version));
  });

  test('says so when a backup does not fit, and leaves nothing of it', async (t) => {
    const folder = await createFolder(t);
    const directory = join(folder, 'data');
    const store = await openSqliteStore({ directory });
    const { id } = await storeQueue(store);
    await store.queues.commit(aCommit(id, 1, { entries: [anEntry(id, 1, { body: 'x'.repeat(6_000_000) })] }));
    await store.close();

    const child = startChild('backup', [directory, join(folder, 'backup')], 4000);
    const [, refusal] = await child.read();
    assert.match(refusal ?? '', /^STORE_UNAVAILABLE The backup .* cannot be written: /);
    assert.equal(await child.ended, 0);
    assert.deepEqual(await readdir(folder), ['data']);
  });
});
