// Counts what servers ask of PostgreSQL while nothing happens. Their time passes as fast as the database answers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { parseConfig } from '../../src/config/config.ts';
import { start } from '../../src/main.ts';
import { countCommits, countWrites, createDatabase, query, startPostgres } from '../helpers/postgres.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { ManualClock } from '../worlds/shell/manual-clock.ts';
import { createClient, makeFolder } from './harness.ts';
import { createQueue } from './test-queue.ts';

const SLUICE_ADMIN_TOKEN = 'the-administrator-of-all';
const STEP_MS = 250;

test('idle servers commit twice a second at most each, and write nothing [D40]', async (t) => {
  const [folder, url] = [await makeFolder(), await createDatabase()];
  const clock = new ManualClock();
  const watch = new pg.Client({ connectionString: (await startPostgres()).url });
  await watch.connect();
  t.after(() => watch.end());
  const database = new URL(url).pathname.slice(1);
  const isBusy = `select from pg_stat_activity where datname = '${database}' and application_name = 'sluice' and state <> 'idle'`;
  /** Time passes in steps, and each waits for the database. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await clock.pass(STEP_MS);
      for (let quiet = 0; quiet < 2; ) quiet = (await watch.query(isBusy)).rowCount === 0 ? quiet + 1 : 0;
    }
  };
  const startOne = async (name: string) => {
    const environment = { SLUICE_DATABASE_URL: url, SLUICE_ADMIN_TOKEN, SLUICE_DATA: join(folder, name) };
    const parsed = parseConfig({
      ...environment,
      SLUICE_PORT: '0',
      SLUICE_RUNNER_PROTECTION: 'none',
      SLUICE_RUNNER_TRUST: 'all',
    });
    assert.ok('config' in parsed);
    return start(parsed.config, silentLog, { clock, ingestStartMs: 1e9 });
  };
  // Its stop stores that the token was used.
  const first = await startOne('first');
  const queue = await createQueue(createClient({ url: `${first.url}/v1`, token: SLUICE_ADMIN_TOKEN }));
  t.after(() => queue.close());
  await first.stop();
  for (const name of ['one', 'two']) {
    const running = await startOne(name);
    t.after(() => running.stop());
    // The daily housekeeping comes a minute after the start.
    await pass(90_000);
    const commits = await untilCounted(url);
    const rows = await countWrites(url);
    await pass(60_000);
    const done = (await untilCounted(url)) - commits;
    t.diagnostic(`${name}: ${done} commits in 60 s`);
    assert.ok(done <= (name === 'one' ? 120 : 240), `${name}: ${done}`);
    assert.equal((await countWrites(url)) - rows, 0);
  }
});

/** A process of PostgreSQL may tell of its transactions ten seconds late, or when it ends. */
async function untilCounted(url: string): Promise<number> {
  const idle = `pg_stat_activity where application_name = 'sluice' and datname = current_database() and query <> 'LISTEN sluice'`;
  await query(url, [`select pg_terminate_backend(pid, 5000) from ${idle}`]);
  return countCommits(url);
}
