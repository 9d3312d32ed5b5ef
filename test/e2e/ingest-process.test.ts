import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { startPostgres } from '../helpers/postgres.ts';
import { launch, makeFolder, type ServerProcess, startServer, until } from './harness.ts';

const TESTS = 1_000;
const SCOPE = { repo: { host: 'github.com', owner: 'acme', name: 'app' }, org_url_slug: 'default' };

const FIELDS = {
  org_url_slug: 'default',
  repo_host: 'github.com',
  repo_owner: 'acme',
  repo_name: 'app',
  branch: 'main',
  job_name: 'unit',
};

function reportOf(upload: number): string {
  const cases = Array.from({ length: TESTS }, (_, test) => {
    // Every upload has a few failing tests, which pass in the second upload of the same commit.
    const isFailing = upload % 2 === 0 && test % 50 === (upload / 2) % 50;
    const inside = isFailing ? '<failure message="no">at a.ts:1</failure>' : '';
    return `<testcase name="test ${test}" classname="C" time="0.01">${inside}</testcase>`;
  });
  return `<testsuite name="s">${cases.join('')}</testsuite>`;
}

async function send(server: ServerProcess, upload: number): Promise<void> {
  const answer = await trySend(server, upload);
  assert.equal(answer.status, 202, answer.text);
}

function trySend(server: ServerProcess, upload: number) {
  const fields = new URLSearchParams({ ...FIELDS, sha: String(Math.floor(upload / 2)).padStart(40, '0') });
  return server.api.send(`flaky-tests/upload-results?${fields}`, {
    method: 'POST',
    headers: { 'content-type': 'application/xml' },
    body: reportOf(upload),
  });
}

interface Listed {
  readonly uploads: readonly { readonly status: string; readonly test_runs: number }[];
  readonly page: { readonly total_rows: number };
}

function list(server: ServerProcess): Promise<Listed> {
  return server.api.ok('flaky-tests/list-uploads', { ...SCOPE, page_query: { page_size: 100 } });
}

async function processed(server: ServerProcess): Promise<number> {
  const { uploads } = await list(server);
  return uploads.filter(({ status }) => status === 'PROCESSED').length;
}

async function untilProcessed(server: ServerProcess, count: number): Promise<void> {
  const isEnough = async () => ((await processed(server)) >= count ? true : undefined);
  await until(`${count} uploads are processed`, 60_000, isEnough).catch((error: Error) => {
    throw new Error(`${error.message}\n${server.output.err}`);
  });
}

/** The ingest process of a server; undefined: none runs. */
function findIngest({ child }: ServerProcess): number | undefined {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
  const found = children.find((pid) => pid !== '' && readText(`/proc/${pid}/cmdline`).includes('ingest-main'));
  return found === undefined ? undefined : Number(found);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A killed process that nobody waited for has no memory any more. */
const isAlive = (pid: number) => /^VmRSS:/m.test(readText(`/proc/${pid}/status`));

const untilGone = (pid: number) => until('it is gone', 30_000, async () => (isAlive(pid) ? undefined : true));

/** Sends a report of this size, and waits until the ingest process works on it. */
async function sendLarge(server: ServerProcess, bytes: number): Promise<number> {
  const head = '<testsuite name="s">';
  const cases = reportOf(1).slice(head.length, -'</testsuite>'.length);
  const body = gzipSync(`${head}${cases.repeat(Math.ceil(bytes / cases.length))}</testsuite>`, { level: 1 });
  const fields = new URLSearchParams({ ...FIELDS, sha: 'f'.repeat(40) });
  const { url, token } = server;
  const answer = await fetch(`${url}/v1/flaky-tests/upload-results?${fields}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/xml',
      'content-encoding': 'gzip',
      authorization: `Bearer ${token}`,
    },
    body,
  });
  assert.equal(answer.status, 202, await answer.text());
  return until('it is worked on', 60_000, async () => {
    const pid = findIngest(server);
    return pid === undefined || cpuTicksOf(pid) < LOADED_TICKS ? undefined : pid;
  });
}

/** To load its modules takes a second at most. */
const LOADED_TICKS = 200;

function cpuTicksOf(pid: number): number {
  const [user, system] = (readText(`/proc/${pid}/stat`).split(') ')[1] ?? '').split(' ').slice(11, 13);
  return Number(user ?? 0) + Number(system ?? 0);
}

const onLinux = { skip: process.platform !== 'linux' && 'it looks into /proc' };

describe('the process beside a server that takes in uploads', onLinux, () => {
  it('ends with SIGTERM of the server in the middle of 200 MB [H10]', async () => {
    const server = await startServer();
    const pid = await sendLarge(server, 200_000_000);
    assert.equal((await list(server)).uploads[0]?.status, 'ACCEPTED');
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    assert.ok(!isAlive(pid));
  });

  it('is seen to hang by its server, and killed by SIGTERM of that [H10] [M39]', async () => {
    const server = await startServer();
    await send(server, 0);
    await untilProcessed(server, 1);
    const pid = await until('it runs', 30_000, async () => findIngest(server));
    process.kill(pid, 'SIGSTOP');
    await until('it is silent', 30_000, async () => {
      const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
      const seconds = /^sluice_ingest_silent_seconds\{\} ([\d.]+)$/m.exec(await answer.text())?.[1];
      return Number(seconds) > 3 ? true : undefined;
    });
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    assert.ok(!isAlive(pid));
  });

  it('ends with a server that is killed while it works [U90]', async () => {
    const server = await startServer();
    const pid = await sendLarge(server, 60_000_000);
    server.child.kill('SIGKILL');
    await server.exited;
    await untilGone(pid);
  });

  it('keeps the next server from the data folder until it is gone [U90]', async () => {
    const SLUICE_DATA = await makeFolder();
    const server = await startServer({ SLUICE_DATA });
    await send(server, 0);
    await untilProcessed(server, 1);
    const pid = await until('it runs', 30_000, async () => findIngest(server));
    process.kill(pid, 'SIGSTOP');
    server.child.kill('SIGKILL');
    await server.exited;
    const refused = launch({ SLUICE_DATA, SLUICE_PORT: '0' });
    assert.equal((await refused.exited).code, 1);
    assert.match(refused.output.err, /^The ingest process of an earlier server still uses the data folder /m);
    process.kill(pid, 'SIGCONT');
    const next = await startServer({ SLUICE_DATA });
    assert.ok(!isAlive(pid));
    await untilProcessed(next, 1);
    await next.stop();
  });

  it('ends with SIGTERM while PostgreSQL keeps it waiting, and nothing is lost [H10] [U34]', async () => {
    const SLUICE_DATABASE_URL = await (await startPostgres()).createDatabase();
    const SLUICE_DATA = await makeFolder();
    const server = await startServer({ SLUICE_DATABASE_URL, SLUICE_DATA });
    await send(server, 0);
    await untilProcessed(server, 1);
    const other = new pg.Client({ connectionString: SLUICE_DATABASE_URL });
    await other.connect();
    await other.query('begin; lock table test_sequences in access exclusive mode');
    await send(server, 1);
    const waits = `select 1 from pg_locks where relation = 'test_sequences'::regclass and not granted`;
    await until('it waits', 30_000, async () => ((await other.query(waits)).rowCount === 0 ? undefined : true));
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    await other.query('rollback');
    await other.end();
    const next = await startServer({ SLUICE_DATABASE_URL, SLUICE_DATA });
    await untilProcessed(next, 2);
    await next.stop();
  });
});
