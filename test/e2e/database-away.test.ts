// A server whose PostgreSQL is away, or has no connection left: every request says so at once, and clients come back.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pluck } from '../helpers/pluck.ts';
import { createDatabase } from '../helpers/postgres.ts';
import { startProxy } from '../helpers/postgres-proxy.ts';
import {
  type Answer,
  type Client,
  makeFolder,
  problemOf,
  startHere,
  startServer,
  type TestServer,
  until,
} from './harness.ts';
import { type Running, runSluice } from './run-sluice.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

const PATIENCE_MS = 60_000;

describe('a database that cannot answer', { concurrency: 2 }, () => {
  test('while the database is away, requests are 503 with Retry-After, and commands and uploads wait for it [D26] [W17] [W21]', async (t) => {
    const proxy = await startProxy(t, await createDatabase());
    const { server, queue } = await open(t, { SLUICE_DATABASE_URL: proxy.url });
    const number = await queue.openPullRequest();
    await proxy.stop();
    await assertUnavailable(server.api, 'getQueue', queue.ref);
    await assertUnavailable(server.api, 'submitPullRequest', queue.entry(number));
    const ready = await server.api.send('../readyz');
    assert.equal(problemOf(ready, '503 UNAVAILABLE').detail, 'The store does not answer.');
    assert.equal(ready.headers.get('retry-after'), '5');
    assert.equal((await server.api.send('../healthz')).status, 200);

    const submission = runSluice(
      ['pr', 'submit', String(number), '--repo', queue.name, '--branch', 'main'],
      server.env,
    );
    const upload = await startUpload(server, queue, number);
    for (const { output } of [submission, upload]) await untilWaiting(output);
    await proxy.start();
    assert.equal((await submission.ended).code, 0, submission.output.err);
    assert.equal((await upload.ended).code, 0, upload.output.err);
    assert.equal((await queue.get(number)).state, 'TESTING');
    const { uploads } = await server.api.ok<{ uploads: object[] }>('flaky-tests/list-uploads', {
      repo: queue.repo,
      org_url_slug: 'default',
      page_query: { page_size: 10, page_token: '' },
    });
    assert.equal(uploads.length, 1);
  });

  test('the metrics are read while the database is away or frozen, with the age of what came from it [M16] [M40] [M41]', async (t) => {
    const proxy = await startProxy(t, await createDatabase());
    const own = 'token-of-prometheus-alone';
    const { server } = await open(t, { SLUICE_DATABASE_URL: proxy.url, SLUICE_METRICS_TOKEN: own });
    const read = (token?: string) => server.api.withToken(token).send('../metrics');
    const numberOf = (text: string, name: string) => Number(new RegExp(`^${name}\\{\\} (\\S+)$`, 'm').exec(text)?.[1]);
    assert.ok(numberOf((await read(server.token)).text, 'sluice_store_size_bytes') > 0);
    // Its own token opens nothing else.
    problemOf(await server.api.withToken(own).post('getServer', {}), '401 INVALID_TOKEN');
    const isReady = async (wanted: number) =>
      until('readiness is as wanted', PATIENCE_MS, async () => {
        const { text } = await read(own);
        return numberOf(text, 'sluice_ready') === wanted ? text : undefined;
      });
    const assertRead = async () => {
      // The server may have read it once more before the database went away.
      const size = numberOf(await isReady(0), 'sluice_store_size_bytes');
      assert.ok(size > 0);
      const { status, text } = await read(own);
      assert.equal(status, 200, text);
      assert.equal(numberOf(text, 'sluice_ready'), 0);
      assert.equal(numberOf(text, 'sluice_store_size_bytes'), size);
      assert.ok(numberOf(text, 'sluice_store_reading_age_seconds') > 0);
      problemOf(await read(), '401 AUTHENTICATION_REQUIRED');
      problemOf(await read('another-token-of-somebody'), '503 UNAVAILABLE');
    };
    await proxy.stop();
    await assertRead();
    await proxy.start();
    assert.equal(numberOf(await isReady(1), 'sluice_store_reading_age_seconds'), 0);
    problemOf(await read('another-token-of-somebody'), '401 INVALID_TOKEN');
    proxy.hang();
    await assertRead();
  });

  test('a request in flight is 503 while the database hangs, and the log has a line for the loss and one for the return [D42] [D43]', async (t) => {
    const proxy = await startProxy(t, await createDatabase());
    const server = await startServer({ SLUICE_DATABASE_URL: proxy.url });
    t.after(() => server.stop());
    const queue = await createQueue(server.api);
    t.after(() => queue.close());
    const number = await queue.openPullRequest();
    await server.api.ok('getQueue', queue.ref);
    proxy.hang();
    const answer = await server.api.post('submitPullRequest', queue.entry(number));
    assert.match(
      problemOf(answer, '503 UNAVAILABLE').detail,
      /^The database does not answer\. Whether this was stored is not/,
    );
    assert.equal(answer.headers.get('retry-after'), '5');
    await proxy.stop();
    await proxy.start();
    await until('it is back', PATIENCE_MS, async () =>
      /the database is back/.test(server.output.err) ? true : undefined,
    );
    await server.api.ok('submitPullRequest', queue.entry(number));
    const others = /^$|Nothing keeps checks|ingest process ended/;
    const lines = server.output.err.split('\n').filter((line) => !others.test(line));
    const told = lines.map((line) => JSON.parse(line));
    assert.deepEqual(pluck(told, 'text'), ['the database is away', 'the database is back']);
    assert.ok(told[1].seconds >= 0);
  });

  test('SIGTERM ends a server within 10 s while the database hangs [H10]', async (t) => {
    const proxy = await startProxy(t, await createDatabase());
    const server = await startServer({ SLUICE_DATABASE_URL: proxy.url });
    await server.api.ok('listRepositories', {});
    proxy.hang();
    await server.api.post('listApiTokens', {});
    const startedAt = performance.now();
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    assert.ok(performance.now() - startedAt < 10_000);
  });
});

async function open(t: TestContext, environment: Record<string, string>) {
  const server = await startHere({ ...environment, SLUICE_ADMIN_TOKEN: 'the-administrator-of-all' });
  t.after(() => server.stop());
  const queue = await createQueue(server.api);
  t.after(() => queue.close());
  return { server, queue };
}

async function assertUnavailable(api: Client, operation: string, body: unknown): Promise<void> {
  checkUnavailable(await api.post(operation, body));
}

/** It names no host of the database. */
function checkUnavailable(answer: Answer): void {
  assert.equal(problemOf(answer, '503 UNAVAILABLE').detail, 'Sluice cannot do this now. Try again in a moment.');
  assert.equal(answer.headers.get('retry-after'), '5');
}

async function startUpload(server: TestServer, queue: TestQueue, number: number): Promise<Running> {
  const folder = await makeFolder();
  await writeFile(join(folder, 'junit.xml'), '<testsuite name="s"><testcase name="a" classname="b"/></testsuite>');
  const place = ['--repo', queue.name, '--sha', await queue.headOf(number), '--branch', 'main', '--org', 'default'];
  return runSluice(['upload', 'junit.xml', ...place, '--exit-code', '0'], server.env, folder);
}

/** It says once that it waits, and for how long. */
async function untilWaiting(output: Running['output']): Promise<void> {
  await until('it waits', PATIENCE_MS, async () => /Trying again in 5 s\./.test(output.err) || undefined);
}
