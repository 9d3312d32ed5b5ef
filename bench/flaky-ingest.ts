import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Prng } from '../src/lib/prng.ts';
import { startPostgres } from '../test/helpers/postgres.ts';
import { failureOf, packedReport, RUNS_PER_UPLOAD, SHARDS, testOf } from './lib/ci-reports.ts';
import { printFigure, progress } from './lib/figure.ts';
import { createTestsWorld, type TestsServer } from './lib/tests-world.ts';

const GOALS = { sqlite: 50_000, postgres: 20_000 } as const;
const RUNS = { sqlite: 5_000_000, postgres: 1_000_000 } as const;
/** Different reports. After this many they repeat on other commits. */
const REPORTS = 40;
const SENDERS = 4;
/** CI does not exceed the processing rate for hours, and waiting uploads do not change the rate. */
const MOST_WAITING = 60;
const BASELINE_RUNS = 500_000;

type Engine = keyof typeof GOALS;

/**
 * From accepted to queryable: uploads of 5,000 test executions go to a real server over HTTP until all are processed.
 * The baseline inserts the same executions as plain rows of one table, one transaction per 5,000, without parsing and
 * detection and with a single index.
 */
export async function measureIngest(of: {
  readonly engine: Engine;
  readonly runs?: number | undefined;
}): Promise<void> {
  const { engine, runs = RUNS[engine] } = of;
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  const world = createTestsWorld(await postgres?.createDatabase());
  try {
    progress(`flaky ingest: making ${REPORTS} reports`);
    const reports = makeReports();
    const server = await world.start();
    const uploads = Math.max(SHARDS, Math.ceil(runs / RUNS_PER_UPLOAD));
    // The first commit creates 20,000 tests, which happens once in the life of a repository.
    for (let no = 0; no < SHARDS; no += 1) await server.upload({ ...commitOf(no), body: reports[no] as Uint8Array });
    await server.untilProcessed();
    const cpuBefore = await server.child.cpuMicroseconds();
    const begun = performance.now();
    await sendAll(server, reports, { first: SHARDS, uploads });
    const seconds = (performance.now() - begun) / 1_000;
    const total = uploads * RUNS_PER_UPLOAD;
    const cpu = ((await server.child.cpuMicroseconds()) - cpuBefore) / total;
    const peaks = { memory: server.child.memory().peak, 'memory.ingest': server.child.ingestMemory() };
    await server.child.stop();
    const name = `flaky.ingest.${engine}`;
    // A goal is an upper limit: 50,000 executions a second are 20 µs each.
    printFigure({ name, value: (seconds * 1e6) / total, unit: 'µs/run', goal: 1e6 / GOALS[engine] });
    progress(`flaky ingest: plain rows into ${engine}`);
    const plain = await (postgres === undefined
      ? insertIntoSqlite()
      : insertIntoPostgres(await postgres.createDatabase()));
    printFigure({ name: `${name}.rate`, value: total / seconds, unit: 'runs/s', baseline: plain });
    printFigure({ name: `${name}.cpu`, value: cpu, unit: 'µs/run' });
    for (const [what, peak] of Object.entries(peaks)) {
      printFigure({ name: `${name}.${what}`, value: peak / 1e6, unit: 'MB' });
    }
  } finally {
    world.remove();
  }
}

function makeReports(): readonly Uint8Array[] {
  const random = new Prng('flaky ingest');
  return Array.from({ length: REPORTS }, (_, index) => packedReport(index % SHARDS, random));
}

async function sendAll(
  server: TestsServer,
  reports: readonly Uint8Array[],
  { first, uploads }: { readonly first: number; readonly uploads: number },
): Promise<void> {
  let next = first;
  let waiting = 0;
  const end = first + uploads;
  const send = async () => {
    while (next < end) {
      const no = next;
      next += 1;
      while (waiting >= MOST_WAITING) await sleep(20);
      waiting += 1;
      await server.upload({ ...commitOf(no), body: reports[no % reports.length] as Uint8Array });
    }
  };
  let isSending = true;
  const watch = async () => {
    while (isSending) {
      await sleep(100);
      waiting = await server.countWaiting();
      if (next % 50 === 0) progress(`flaky ingest: ${next} uploads sent, ${waiting} wait`);
    }
  };
  const watching = watch();
  await Promise.all(Array.from({ length: SENDERS }, send));
  isSending = false;
  await watching;
  await server.untilProcessed();
}

/** Every other commit is on main. The shards of a commit are separate jobs. */
function commitOf(no: number): { readonly sha: string; readonly branch: string; readonly job: string } {
  const commit = Math.floor(no / SHARDS);
  const sha = commit.toString(16).padStart(40, 'c0ffee');
  return { sha, branch: commit % 2 === 0 ? 'main' : `change-${commit}`, job: `unit-${no % SHARDS}` };
}

const COLUMNS =
  'repository TEXT, test TEXT, branch TEXT, sha TEXT, job TEXT, at BIGINT, ok INTEGER, ms INTEGER, text TEXT';

/** Executions per second. */
async function insertIntoSqlite(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const database = new DatabaseSync(path.join(folder, 'plain.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec(`CREATE TABLE runs (${COLUMNS}); CREATE INDEX runs_by_test ON runs (repository, test, at)`);
  const insert = database.prepare(`INSERT INTO runs VALUES (${'?, '.repeat(8)}?)`);
  const begun = performance.now();
  for (let no = 0; no < BASELINE_RUNS / RUNS_PER_UPLOAD; no += 1) {
    database.exec('BEGIN');
    for (const row of plainRows(no)) insert.run(...row);
    database.exec('COMMIT');
  }
  const seconds = (performance.now() - begun) / 1_000;
  database.close();
  rmSync(folder, { recursive: true, force: true });
  return BASELINE_RUNS / seconds;
}

async function insertIntoPostgres(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE runs (${COLUMNS})`);
  await client.query('CREATE INDEX runs_by_test ON runs (repository, test, at)');
  const types = ['text', 'text', 'text', 'text', 'text', 'bigint', 'int', 'int', 'text'];
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const begun = performance.now();
  for (let no = 0; no < BASELINE_RUNS / RUNS_PER_UPLOAD; no += 1) {
    const rows = [...plainRows(no)];
    await client.query(
      `INSERT INTO runs SELECT * FROM unnest(${lists})`,
      types.map((_, column) => rows.map((row) => row[column])),
    );
  }
  const seconds = (performance.now() - begun) / 1_000;
  await client.end();
  return BASELINE_RUNS / seconds;
}

function* plainRows(no: number): Generator<(string | number | null)[]> {
  const { sha, branch, job } = commitOf(no);
  const first = (no % SHARDS) * RUNS_PER_UPLOAD;
  for (let index = first; index < first + RUNS_PER_UPLOAD; index += 1) {
    const fails = (index + no) % 100 === 0;
    const { suite, name } = testOf(index);
    const text = fails ? failureOf(index, no).text : null;
    yield [
      'shop',
      `${suite} ${name}`,
      branch,
      sha,
      job,
      1_790_000_000_000 + no * 60_000,
      fails ? 0 : 1,
      index % 900,
      text,
    ];
  }
}
