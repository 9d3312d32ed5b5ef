import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createDatabase } from '../helpers/postgres.ts';
import { type Environment, launch, makeFolder, problemOf, startServer, type TestServer, until } from './harness.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

interface Listed {
  readonly webhooks: readonly { readonly hasOtherKey: boolean }[];
}

const SLUICE_ADMIN_TOKEN = 'the-administrator-of-both';

describe('two servers on one PostgreSQL', () => {
  let folder: string;
  let one: TestServer;
  let two: TestServer;
  let queue: TestQueue;
  const startOn = (url: string, data: string, more: Environment = {}) =>
    startServer({ SLUICE_DATABASE_URL: url, SLUICE_DATA: join(folder, data), ...more });
  before(async () => {
    folder = await makeFolder();
    const url = await createDatabase();
    // Both start at once on an empty database, and both try to create everything.
    [one, two] = await Promise.all([
      startOn(url, 'one', { SLUICE_ADMIN_TOKEN }),
      startOn(url, 'two', { SLUICE_ADMIN_TOKEN }),
    ]);
    queue = await createQueue(one.api);
  });
  after(async () => {
    await queue.close();
    await Promise.all([one.stop(), two.stop()]);
  });

  test('a server with another secret key makes no webhooks, and says so [X46]', async () => {
    const body = { name: 'ci', url: 'https://example.com/hook', format: 'STANDARD', types: ['queue.created'] };
    const { id } = await one.api.ok<{ id: string }>('createWebhook', body);
    const refusal = await two.api.refused('409 SECRET_KEY_DIFFERS', 'createWebhook', body);
    assert.match(JSON.stringify(refusal), /One webhook is encrypted with another key.*the same SLUICE_SECRET_KEY/);
    await two.api.refused('409 SECRET_KEY_DIFFERS', 'rotateWebhookSecret', { id });
    await two.api.refused('409 SECRET_KEY_DIFFERS', 'updateWebhook', { id, url: body.url });
    const seen = await Promise.all([one, two].map(({ api }) => api.ok<Listed>('listWebhooks', {})));
    assert.deepEqual(
      seen.map(({ webhooks }) => webhooks.map(({ hasOtherKey }) => hasOtherKey)),
      [[false], [true]],
    );
    assert.deepEqual(await two.api.ok('testWebhook', { id }), { delivered: false, problem: 'OTHER_SECRET_KEY' });
    // The key is lost: what it encrypted is deleted, and made again.
    await two.api.ok('deleteWebhook', { id });
    const again = await two.api.ok<{ id: string }>('createWebhook', body);
    await two.api.ok('deleteWebhook', { id: again.id });
  });

  test('a token revoked on one is refused by the other within 5 s', async () => {
    const { id, token } = await one.api.ok<{ id: string; token: string }>('createApiToken', {
      name: 'ci',
      scopes: ['read'],
    });
    await two.api.withToken(token).ok('getQueue', queue.ref);
    await one.api.ok('revokeApiToken', { id });
    await one.api.withToken(token).refused('401 INVALID_TOKEN', 'getQueue', queue.ref);
    const refused = await until('the other server refuses it', 6_000, async () => {
      const answer = await two.api.withToken(token).post('getQueue', queue.ref);
      return answer.status === 200 ? undefined : answer;
    });
    problemOf(refused, '401 INVALID_TOKEN');
  });

  test('a NUL in an address and a restore are refused with reasons [D23]', async () => {
    const answer = await one.api.send('getMergeQueueMetrics?repo=a/%00&repoHost=local');
    problemOf(answer, '400 VALIDATION_FAILED');
    const problem = await one.api.refused('400 VALIDATION_FAILED', 'restoreBackup', { file: 'x.dump' });
    assert.match(problem.detail, /pg_restore/);
  });

  test('without a given token one of two prints one, and it works on both', async () => {
    const url = await createDatabase();
    const environment = { SLUICE_DATABASE_URL: url, SLUICE_PORT: '0' };
    const both = ['three', 'four'].map((data) => launch({ ...environment, SLUICE_DATA: join(folder, data) }));
    const urls = await Promise.all(
      both.map(({ output, child }) =>
        until('the server has started', 20_000, async () => {
          assert.equal(child.exitCode, null, output.err);
          return /^API documentation: (\S+)\/docs$/m.exec(output.out)?.[1];
        }),
      ),
    );
    const tokens = both.flatMap(({ output }) => output.out.match(/slc_\S+/g) ?? []);
    assert.equal(tokens.length, 1);
    for (const each of urls) {
      const headers = { 'x-api-token': tokens[0] as string, 'content-type': 'application/json' };
      const answer = await fetch(`${each}/v1/listRepositories`, { method: 'POST', headers, body: '{}' });
      assert.equal(answer.status, 200);
    }
    for (const { child } of both) child.kill('SIGTERM');
    for (const { exited } of both) assert.equal((await exited).code, 0);
  });

  test('a database that is not there is said so in a sentence, without its password', async () => {
    const server = launch({
      SLUICE_DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/none',
      SLUICE_DATA: join(folder, 'five'),
      SLUICE_PORT: '0',
    });
    assert.equal((await server.exited).code, 1);
    assert.doesNotMatch(server.output.err, /hunter2|\n\s+at /);
    assert.match(server.output.err, /\.$/m);
  });
});
