import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { makeFolder, type ServerProcess, startServer, until } from './harness.ts';
import { createSmallDisk, findMountProblem } from './small-disk.ts';

const UPLOADS = 40;
const TESTS = 1_000;
const KILLS = 4;
const SCOPE = { repo: { host: 'github.com', owner: 'acme', name: 'app' }, org_url_slug: 'default' };

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
  const fields = new URLSearchParams({
    org_url_slug: 'default',
    repo_host: 'github.com',
    repo_owner: 'acme',
    repo_name: 'app',
    sha: String(Math.floor(upload / 2)).padStart(40, '0'),
    branch: 'main',
    job_name: 'unit',
  });
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

async function countRuns(store: Store, repositoryId: RepositoryId): Promise<readonly number[]> {
  const watermark = await store.tests.getWatermark(repositoryId);
  const { known } = await store.testIngest.loadRange(repositoryId, 1, TESTS + 100);
  const query = { repositoryId, watermark, offset: 0, limit: 1, since: 0, branch: null, conclusion: null };
  return Promise.all(
    known.map(async ({ test }) => (await store.tests.listRuns({ ...query, testId: test.id })).totalRows),
  );
}

describe('a server that is killed while it processes uploads', () => {
  it('loses none and counts none twice [U32]', async () => {
    const SLUICE_DATA = await makeFolder();
    let server = await startServer({ SLUICE_DATA });
    const all = Array.from({ length: UPLOADS }, (_, upload) => upload);
    await Promise.all(all.map((upload) => send(server, upload)));
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // The first kill comes at once, the others after some progress.
      const enough = kill === 1 ? 0 : Math.min(UPLOADS, (await processed(server)) + 5);
      await untilProcessed(server, enough);
      server.child.kill('SIGKILL');
      await server.exited;
      server = await startServer({ SLUICE_DATA });
    }
    await untilProcessed(server, UPLOADS);
    assert.deepEqual(new Set((await list(server)).uploads.map((upload) => upload.test_runs)), new Set([TESTS]));
    assert.deepEqual(await server.stop(), { code: 0, signal: null });

    const store = await openSqliteStore({ directory: SLUICE_DATA });
    const [repository] = await store.repositories.listAll();
    assert.ok(repository !== undefined);
    const counts = await countRuns(store, repository.id);
    assert.deepEqual(counts, new Array(TESTS).fill(UPLOADS));
    const { known } = await store.testIngest.loadRange(repository.id, 1, TESTS + 1);
    const flaky = known.filter(({ test }) => test.status === 'FLAKY').map(({ test }) => test.name);
    const expected = known.map(({ test }) => test.name).filter((name) => Number(name.slice(5)) % 50 < UPLOADS / 2);
    assert.deepEqual(flaky, expected);
    await store.close();
  });
});

describe('a backup that is restored while uploads are processed', () => {
  it('takes back what came after it, and counts what comes again [D5]', async () => {
    const server = await startServer();
    await send(server, 0);
    await untilProcessed(server, 1);
    await server.api.ok('createBackup', { file: 'one.db' });
    for (let upload = 1; upload <= 6; upload += 1) await send(server, upload);
    await server.api.ok('restoreBackup', { file: 'one.db' });
    assert.equal((await list(server)).page.total_rows, 1);
    await send(server, 1);
    await untilProcessed(server, 2);
    const name = 'test 7';
    const found = await server.api.ok<Found>('flaky-tests/search-tests', { ...SCOPE, query: name, limit: 100 });
    const test_id = found.tests.find((test) => test.name === name)?.id;
    const runs = await server.api.ok<Listed>('flaky-tests/list-test-runs', { ...SCOPE, test_id, page_query: {} });
    assert.equal(runs.page.total_rows, 2);
    await server.stop();
  });
});

const mountProblem = await findMountProblem();

describe('a disk that is full while uploads are processed', { skip: mountProblem }, () => {
  it('has what was accepted wait for room, and counts it once [U34]', async () => {
    const disk = await createSmallDisk(32);
    const server = await startServer({ SLUICE_DATA: join(disk.folder, 'data') });
    try {
      await send(server, 0);
      await untilProcessed(server, 1);
      for (let upload = 1; upload <= 8; upload += 1) await send(server, upload);
      const makeRoom = await disk.fill();
      const refused = await until('it is full', 20_000, async () => {
        const answer = await trySend(server, 9);
        return answer.status === 202 ? undefined : answer;
      });
      assert.equal(refused.status, 503, refused.text);
      await makeRoom();
      await until('there is room again', 30_000, async () =>
        (await trySend(server, 9)).status === 202 ? true : undefined,
      );
      await untilProcessed(server, 10);
      const { uploads } = await list(server);
      assert.deepEqual(
        new Set(uploads.map(({ status, test_runs }) => `${status} ${test_runs}`)),
        new Set([`PROCESSED ${TESTS}`]),
      );
      assert.equal(uploads.length, 10);
    } finally {
      await server.stop();
      await disk.close();
    }
  });
});

interface Found {
  readonly tests: readonly { readonly id: string; readonly name: string }[];
}
