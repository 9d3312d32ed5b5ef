// `sluice move`: from the embedded store to PostgreSQL, with everything, or not at all.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { TABLES } from '../../src/storage/sql/schema.ts';
import { createDatabase, createEmptyDatabase, query } from '../helpers/postgres.ts';
import { startProxy } from '../helpers/postgres-proxy.ts';
import { makeFolder, startServer, type TestServer, until } from './harness.ts';
import { HAS_TERMINAL, runOnTerminal, runSluice } from './run-sluice.ts';
import { createQueue, describeQueue } from './test-queue.ts';

const REPORT = `<testsuite name="s"><testcase name="works" classname="b" time="0.1"/>
<testcase name="fails" classname="b"><failure message="expected 1">at b.ts:3</failure></testcase></testsuite>`;

const TOKEN = 'the-administrator-of-all';

/** A data folder in which pull requests landed and results were processed, and whose server stopped. */
async function createUsedFolder() {
  const folder = await makeFolder();
  const server = await startServer({ SLUICE_DATA: folder, SLUICE_ADMIN_TOKEN: TOKEN });
  const checks = [{ name: 'test', command: 'echo tested' }];
  const queue = await createQueue(server.api, { requiredStatuses: [] });
  await server.api.ok('registerRepository', { repo: queue.repo, git: queue.git.path, checks, trustChecks: true });
  const landed = await queue.submitOne();
  await queue.untilEntry(landed, ({ state }) => state === 'MERGED');
  await writeFile(join(folder, 'junit.xml'), REPORT);
  const place = ['--repo', queue.name, '--sha', await queue.headOf(landed), '--branch', 'main', '--org', 'default'];
  const sent = await runSluice(['upload', join(folder, 'junit.xml'), ...place, '--exit-code', '0'], server.env).ended;
  assert.equal(sent.code, 0, sent.err);
  await until('the upload is processed', 60_000, async () => (await listTests(server, queue.repo)) === 2 || undefined);
  const verified = await runSluice(['audit', 'verify', '--json'], server.env).ended;
  const { digest } = JSON.parse(verified.out) as { digest: string };
  await server.stop();
  return { folder, queue, landed, digest };
}

async function listTests(server: TestServer, repo: object): Promise<number> {
  const body = { repo, org_url_slug: 'default', page_query: { page_size: 10, page_token: '' } };
  return (await server.api.ok<{ tests: object[] }>('flaky-tests/list-tests', body)).tests.length;
}

const move = (folder: string, to: string) => runSluice(['move', '--to', to], { SLUICE_DATA: folder });
const hashOf = async (folder: string) =>
  createHash('sha256')
    .update(await readFile(join(folder, 'sluice.db')))
    .digest('hex');
const countTables = async (url: string) =>
  Number((await query(url, ["select count(*) as count from pg_tables where schemaname = 'public'"]))[0]?.['count']);

/** Each table of both databases, as comparable text. */
async function compareTables(folder: string, url: string): Promise<void> {
  const db = new DatabaseSync(join(folder, 'sluice.db'), { readOnly: true });
  const names = db
    .prepare("select name from sqlite_master where type = 'table'")
    .all()
    .map(({ name }) => String(name))
    // Only version 0.2 writes to it.
    .filter((name) => name !== 'servers');
  assert.deepEqual(names.toSorted(), Object.keys(TABLES).sort());
  const plain = (rows: readonly object[]) =>
    rows
      .map((row) =>
        JSON.stringify(
          Object.entries(row)
            .sort()
            .map(([name, value]) => [name, comparable(value)]),
        ),
      )
      .sort();
  for (const name of names.filter((table) => table !== 'migrations')) {
    const stored = await query(url, [`select * from "${name}"`]);
    assert.deepEqual(plain(stored), plain(db.prepare(`select * from "${name}"`).all()), name);
  }
  db.close();
}

/** PostgreSQL tells large integers as texts. */
function comparable(value: unknown): string | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value === null ? null : String(typeof value === 'boolean' ? Number(value) : value);
}

describe('sluice move', { concurrency: 2 }, () => {
  test('a stopped server goes on in PostgreSQL, with everything that the folder had [D50] [W62]', async (t) => {
    const { folder, queue, landed, digest } = await createUsedFolder();
    t.after(() => queue.close());
    const url = await createEmptyDatabase();
    const before = await hashOf(folder);
    const { code, out, err } = await move(folder, url).ended;
    assert.equal(code, 0, err);
    assert.match(out, /^\d+ rows of \d+ tables are in PostgreSQL at /);
    assert.ok(out.includes(`none changed. Digest: ${digest}\n`), out);
    const [, next = ''] = /Next: (.+) sluice serve\n$/.exec(out) ?? [];
    assert.equal(await hashOf(folder), before);
    await compareTables(folder, url);

    const variables = Object.fromEntries(next.split(' ').map((each) => each.split(/=(.*)/s).slice(0, 2)));
    assert.deepEqual(variables, { SLUICE_DATA: folder, SLUICE_DATABASE_URL: `'${url}'` });
    const server = await startServer({ SLUICE_DATA: folder, SLUICE_DATABASE_URL: url, SLUICE_ADMIN_TOKEN: TOKEN });
    t.after(() => server.stop());
    const moved = describeQueue(queue, server.api);
    assert.equal((await moved.get(landed)).state, 'MERGED');
    assert.equal(await listTests(server, queue.repo), 2);
    const number = await moved.submitOne();
    await moved.untilEntry(number, ({ state }) => state === 'MERGED');
    const kept = await runSluice(['audit', 'verify', '--digest', digest], server.env).ended;
    assert.equal(kept.code, 0, kept.err);

    const again = await move(folder, await createEmptyDatabase()).ended;
    assert.equal(again.code, 1);
    assert.match(again.err, /Another Sluice server already uses the data folder .+ Stop it first\./);
  });

  test('a command that is killed half way leaves the database empty, and can be run again [D50] [W62]', async (t) => {
    const { folder, queue } = await createUsedFolder();
    t.after(() => queue.close());
    const url = await createEmptyDatabase();
    const proxy = await startProxy(t, url);
    const isHalfWay = proxy.freezeAfter('insert into "transitions"');
    const killed = move(folder, proxy.url);
    await isHalfWay;
    killed.kill('SIGKILL');
    await killed.ended;
    await proxy.stop();
    await until('the transaction is gone', 30_000, async () => (await countTables(url)) === 0 || undefined);
    const run = HAS_TERMINAL ? runOnTerminal : runSluice;
    const { code, out, err } = await run(['move', '--to', url], { SLUICE_DATA: folder }).ended;
    assert.equal(code, 0, out + err);
    if (HAS_TERMINAL) assert.match(out, /organizations: 1 of 1 rows \(100%\)/);
    await compareTables(folder, url);
  });

  test('a database with tables, a folder without a store and an unusable address are refused with a sentence [D51] [W62]', async () => {
    const folder = await makeFolder();
    const refused = async (to: string, code: number, sentence: RegExp) => {
      const ended = await move(folder, to).ended;
      assert.equal(ended.code, code, ended.err);
      assert.match(ended.err, sentence);
    };
    await refused('mysql://db/sluice', 2, /must begin with postgres:\/\//);
    await refused(await createEmptyDatabase(), 1, /There is no embedded store in .+: the file sluice\.db is missing\./);
    const server = await startServer({ SLUICE_DATA: folder });
    await server.stop();
    await refused(
      await createDatabase(),
      1,
      /is not empty: it has \d+ tables\. Nothing was moved\. Name an empty database\./,
    );
    await refused('postgres://a:secret@127.0.0.1:1/none', 1, /list of processes[\s\S]+nothing listens there/);
    const backup = new DatabaseSync(join(folder, 'sluice.db'));
    backup.exec('pragma journal_mode = delete');
    backup.close();
    await refused(await createEmptyDatabase(), 1, /was not opened by this version of Sluice yet\. Start the server/);
  });
});
