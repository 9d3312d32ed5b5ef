// Data that earlier versions wrote (`npm run freeze`) is opened: it is kept, and the queue goes on with it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import { createCi } from '../e2e/ci.ts';
import { type Environment, launch, makeFolder, startHere, type TestServer } from '../e2e/harness.ts';
import type { TestQueue } from '../e2e/test-queue.ts';
import { ROOT } from '../helpers/doc-pages.ts';
import { createEmptyDatabase, query } from '../helpers/postgres.ts';
import { ADMIN_TOKEN, lasting, REPO, readFacts, WAITING } from './story.ts';

/** They go with time, so that the server must not run while they are counted. */
const TABLES = [
  'tokens',
  'queue_events',
  'entries',
  'transitions',
  'tests',
  'runs',
  'test_failures',
  'uploads',
  'feed',
];
const COUNTS = TABLES.map((table) => `select count(*) as count from ${table}`).join(' union all ');
/** The test runs in any year. */
const KEPT = { SLUICE_EVENT_DAYS: '36500', SLUICE_ADMIN_TOKEN: ADMIN_TOKEN };
const FROZEN = join(ROOT, 'test/fixtures/upgrade');

describe('an upgrade', () => {
  for (const version of readdirSync(FROZEN)) {
    const read = (file: string) => readFileSync(join(FROZEN, version, file));

    test(`from ${version} on the embedded store keeps everything, and lands what waited [D3]`, async () => {
      const data = await unpackData(version);
      const count = () => countInFile(join(data, 'sluice.db'));
      const before = count();
      await (await openSqliteStore({ directory: data })).close();
      assert.deepEqual(count(), before);
      await checkUpgrade({ SLUICE_DATA: data }, { version, store: 'sqlite' });
    });

    test(`from ${version} on PostgreSQL keeps everything, and lands what waited [D3]`, async () => {
      const url = await createEmptyDatabase();
      await load(url, gunzipSync(read('postgres.sql.gz')).toString());
      const count = async () => (await query(url, [COUNTS])).map((row) => Number(row['count']));
      const before = await count();
      await (await openPostgresStore({ url })).close();
      assert.deepEqual(await count(), before);
      const environment = { SLUICE_DATA: await makeFolder(), SLUICE_DATABASE_URL: url };
      await checkUpgrade(environment, { version, store: 'postgres' });
    });
  }

  test('a server refuses the store of a later version with one sentence, and changes nothing [D3]', async () => {
    const [version = ''] = readdirSync(FROZEN);
    const data = await unpackData(version);
    const file = join(data, 'sluice.db');
    const db = new DatabaseSync(file);
    db.exec("insert into migrations values (9999, 'of tomorrow', 0)");
    db.close();
    const { exited, output } = launch({ SLUICE_DATA: data, SLUICE_PORT: '0' });
    assert.equal((await exited).code, 1);
    assert.match(
      output.err,
      /^The store has schema version 9999, but this Sluice knows .* restore a backup of before\.\n$/,
    );
    const left = new DatabaseSync(file);
    assert.equal(left.prepare('select count(*) as count from entries').get()?.['count'], 3);
    left.close();
  });
});

function countInFile(file: string): readonly unknown[] {
  const db = new DatabaseSync(file);
  try {
    return db
      .prepare(COUNTS)
      .all()
      .map((row) => row['count']);
  } finally {
    db.close();
  }
}

/** A dump is many statements, of which the first changes the session. */
async function load(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statements);
  await client.end();
}

async function unpackData(version: string): Promise<string> {
  const data = await makeFolder();
  await writeFile(join(data, 'sluice.db'), gunzipSync(readFileSync(join(FROZEN, version, 'sluice.db.gz'))));
  return data;
}

async function checkUpgrade(environment: Environment, frozen: { version: string; store: string }): Promise<void> {
  const server = await startHere({ ...environment, ...KEPT });
  try {
    const facts = JSON.parse(readFileSync(join(FROZEN, frozen.version, `${frozen.store}.json`), 'utf8'));
    assert.partialDeepStrictEqual(await readFacts(server.api), lasting(facts));
    await land(server, join(FROZEN, frozen.version, `${frozen.store}.bundle`));
  } finally {
    await server.stop();
  }
}

/** The repository is at another place now. */
async function land({ api }: TestServer, bundle: string): Promise<void> {
  const path = join(await makeFolder(), 'app.git');
  await promisify(execFile)('git', ['clone', '--quiet', '--mirror', bundle, path]);
  await promisify(execFile)('git', ['-C', path, 'remote', 'remove', 'origin']);
  await api.ok('registerRepository', { repo: REPO, git: path });
  const ref = { repo: REPO, targetBranch: 'main' };
  const get: TestQueue['get'] = (number) => api.ok('getSubmittedPullRequest', { ...ref, pr: { number } });
  const git = { git: async () => '' } as unknown as TestQueue['git'];
  const ci = createCi({ api, repo: REPO, ref, get, git });
  await api.ok('updateQueue', { ...ref, state: 'RUNNING' });
  await ci.pass(WAITING);
  const { landed } = await ci.untilState(WAITING, 'MERGED');
  const head = await promisify(execFile)('git', ['-C', path, 'rev-parse', 'main']);
  assert.equal(landed?.pushedSha, head.stdout.trim());
}
