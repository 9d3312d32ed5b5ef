// Backups and restores of real servers, with the tokens that count afterwards.
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import { aCommit, anEntry, storeQueue } from '../helpers/store-rows.ts';
import { createClient, type Environment, launch, makeFolder, startHere, startServer, until } from './harness.ts';
import { runSluice } from './run-sluice.ts';

const PATIENCE = { timeout: 120_000 };

async function begin(t: TestContext, environment: Environment = {}) {
  const server = await startHere(environment);
  t.after(() => server.stop());
  return server;
}

/** A backup of another server, which has the organization acme. */
async function makeBackup(t: TestContext) {
  const server = await begin(t, { SLUICE_ORG: 'acme' });
  const file = join(await makeFolder(), 'backup.db');
  await server.api.ok('createBackup', { file });
  return { file, token: server.token };
}

async function readToken(dataFolder: string): Promise<string> {
  return (await readFile(join(dataFolder, 'admin-token'), 'utf8')).trim();
}

/** Throws if the token does not count, or cannot administer the server. */
async function checkToken(url: string, token: string): Promise<void> {
  await createClient({ url: `${url}/v1`, token }).ok('createOrganization', { slug: `org-${crypto.randomUUID()}` });
}

describe('a restore', PATIENCE, () => {
  it('leaves the token of the new machine valid, beside those of the backup, and says so [A30] [W31]', async (t) => {
    const backup = await makeBackup(t);
    const server = await begin(t);
    const env = { SLUICE_URL: server.url, SLUICE_DATA: server.dataFolder };
    const { code, out } = await runSluice(['restore', backup.file, '--yes'], env).ended;
    assert.equal(code, 0, out);
    const file = join(server.dataFolder, 'admin-token');
    assert.ok(out.endsWith(`now.\nThe tokens of the backup count now.\nThe token from ${file} counts.\n`), out);
    assert.equal(await readToken(server.dataFolder), server.token, 'the file is as it was');
    await checkToken(server.url, server.token);
    await checkToken(server.url, backup.token);
  });

  it('replaces a file whose token does not count, and says which one does not [A31] [W31]', async (t) => {
    const backup = await makeBackup(t);
    const server = await begin(t);
    await writeFile(join(server.dataFolder, 'admin-token'), 'of-a-store-that-is-gone\n');
    const env = { SLUICE_URL: server.url, SLUICE_TOKEN: server.token };
    const { out } = await runSluice(['restore', backup.file, '--yes'], env).ended;
    assert.match(out, /^The token from SLUICE_TOKEN does not count any more, because the backup does not have it\.$/m);
    assert.match(out, /^The token in \S+admin-token on the server's machine administers the server\.$/m);
    const token = await readToken(server.dataFolder);
    assert.notEqual(token, 'of-a-store-that-is-gone');
    await checkToken(server.url, token);
  });

  it('leaves SLUICE_ADMIN_TOKEN valid without a restart [A31]', async (t) => {
    const backup = await makeBackup(t);
    const server = await begin(t, { SLUICE_ADMIN_TOKEN: 'a-token-from-the-environment', SLUICE_ORG: 'acme' });
    assert.deepEqual(await server.api.ok('restoreBackup', { file: backup.file }), { tokenFile: null });
    await checkToken(server.url, server.token);
  });

  it('killed at any moment leaves the old or the new store, and a token file that counts [D5] [A30]', async (t) => {
    const backup = await makeBackup(t);
    const SLUICE_DATA = await makeFolder();
    const first = await startServer({ SLUICE_DATA });
    await first.stop();
    await fill(SLUICE_DATA);
    const seen = new Set<string>();
    for (const delayMs of [20, 60, 120, 250, 500]) {
      const server = await startServer({ SLUICE_DATA });
      const before = await nameStore(server.url, SLUICE_DATA);
      const restoring = server.api.ok('restoreBackup', { file: backup.file }).catch(() => undefined);
      await pause(delayMs);
      server.child.kill('SIGKILL');
      await Promise.all([server.exited, restoring]);
      const after = await startServer({ SLUICE_DATA });
      seen.add(`${before} → ${await nameStore(after.url, SLUICE_DATA)}`);
      await after.stop();
    }
    t.diagnostic([...seen].join(', '));
    assert.ok([...seen].every((each) => ['old → old', 'old → new', 'new → new'].includes(each)));
  });
});

/** Makes the store large enough for a restore to take a while. */
async function fill(directory: string): Promise<void> {
  const store = await openSqliteStore({ directory });
  const queue = await storeQueue(store);
  const entries = Array.from({ length: 400 }, (_, index) =>
    anEntry(queue.id, index + 1, { body: 'x'.repeat(50_000), isLive: false }),
  );
  await store.queues.commit(aCommit(queue.id, 1, { entries }));
  await store.close();
}

/** Only the old one has no organization acme. Throws if the token of the file does not count. */
async function nameStore(url: string, dataFolder: string): Promise<'old' | 'new'> {
  const token = await readToken(dataFolder);
  const headers = { 'x-api-token': token, 'x-organization': 'acme', 'content-type': 'application/json' };
  const { status } = await fetch(`${url}/v1/listApiTokens`, { method: 'POST', headers, body: '{}' });
  assert.ok(status === 200 || status === 404, `status ${status}`);
  return status === 200 ? 'new' : 'old';
}

describe('backups on a schedule', PATIENCE, () => {
  it('are made by the server, and their age is in the metrics [D20] [M10]', async (t) => {
    const server = await begin(t, { SLUICE_BACKUP_EVERY: '1d' });
    const folder = join(server.dataFolder, 'backups');
    await until('there is a backup', 30_000, async () =>
      (await readdir(folder).catch(() => [])).find((name) => /^sluice-[\dTZ.-]+\.db$/.test(name)),
    );
    const headers = { 'x-api-token': server.token };
    const metrics = await until('the metrics have it', 30_000, async () => {
      const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
      return /^mq_backup_age_seconds\{\} /m.test(text) ? text : undefined;
    });
    assert.match(metrics, /^mq_backup_size_bytes\{\} [1-9]\d+$/m);
  });

  it('need a folder that exists: else the server does not start, with the code of bad configuration [D25]', async () => {
    const SLUICE_DATA = await makeFolder();
    const server = launch({ SLUICE_DATA, SLUICE_BACKUP_DIR: join(SLUICE_DATA, 'not-mounted'), SLUICE_PORT: '0' });
    assert.equal((await server.exited).code, 2);
    assert.match(server.output.err, /^SLUICE_BACKUP_DIR cannot be used\. The folder \S+not-mounted does not exist/m);
  });
});
