import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { createDatabase } from '../helpers/postgres.ts';
import { makeFolder, type ServerProcess, startServer, until } from './harness.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

describe('the home of a queue', () => {
  let servers: ServerProcess[];
  let queue: TestQueue;
  before(async () => {
    const [folder, url] = [await makeFolder(), await createDatabase()];
    const shared = {
      SLUICE_DATABASE_URL: url,
      SLUICE_ADMIN_TOKEN: 'the-administrator-of-all',
      SLUICE_LOG_LEVEL: 'info',
    };
    const start = (name: string) => startServer({ ...shared, SLUICE_DATA: join(folder, name) });
    servers = await Promise.all([start('one'), start('two')]);
    queue = await createQueue((servers[0] as ServerProcess).api);
  });
  after(async () => {
    await queue.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  /** The server that stores a change of the queue says so in its log. */
  const changesOf = ({ output }: ServerProcess) => output.err.match(/"event":"pull_request.canceled"/g)?.length ?? 0;
  const submitAndCancel = async ({ api }: ServerProcess) => {
    const number = await queue.openPullRequest();
    const submitted = await api.ok<EntryView>('submitPullRequest', queue.entry(number));
    const cancelled = await api.ok<EntryView>('cancelPullRequest', queue.entry(number));
    assert.deepEqual([cancelled.id, cancelled.state], [submitted.id, 'CANCELLED']);
  };

  test('does what comes to any server, and refusals are the same from both [D31]', async () => {
    await until('both servers know each other', 10_000, async () => {
      const before = servers.map(changesOf);
      for (const server of servers) await submitAndCancel(server);
      const grown = () => servers.map((server, index) => changesOf(server) - (before[index] ?? 0));
      await until(
        'the log has both',
        5_000,
        async () => (grown()[0] as number) + (grown()[1] as number) === 2 || undefined,
      );
      return grown().includes(2) ? true : undefined;
    });
    const problems = await Promise.all(
      servers.map(({ api }) => api.refused('404 PULL_REQUEST_NOT_FOUND', 'submitPullRequest', queue.entry(999))),
    );
    assert.equal(problems[0]?.detail, problems[1]?.detail);
    const both = await Promise.all(
      servers.map(({ api }) => api.ok('cancelPullRequest', { ...queue.ref, prs: [998, 999] })),
    );
    assert.deepEqual(both[0], both[1]);
  });

  test('takes nothing from a client without the key of the store [D32]', async () => {
    for (const authorization of ['', 'Sluice '.padEnd(71, '0'), 'Bearer the-administrator-of-all']) {
      const headers = { connection: 'upgrade', upgrade: 'sluice-link', authorization, 'sluice-server': 'any' };
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const asked = request(`${servers[0]?.url}/servers/v1/link`, { headers });
        asked.on('response', (response) => resolve(response.resume().statusCode));
        asked.on('upgrade', () => reject(new Error('it was let in')));
        asked.on('error', reject);
        asked.end();
      });
      assert.equal(status, 404);
    }
  });

  test('may be killed while requests are under way: none fails [D30]', async () => {
    const most = servers.map(changesOf);
    const home = (most[0] as number) > (most[1] as number) ? 0 : 1;
    const [killed, left] = [servers[home], servers[1 - home]] as [ServerProcess, ServerProcess];
    const numbers: number[] = [];
    for (let index = 0; index < 12; index++) numbers.push(await queue.openPullRequest());
    const answers = numbers.map((number) => left.api.ok<EntryView>('submitPullRequest', queue.entry(number)));
    killed.child.kill('SIGKILL');
    const entries = await Promise.all(answers);
    await submitAndCancel(left);
    assert.equal(new Set(entries.map(({ id }) => id)).size, numbers.length);
    const { enqueuedPullRequests } = await left.api.ok<{ enqueuedPullRequests: EntryView[] }>('getQueue', queue.ref);
    assert.deepEqual(enqueuedPullRequests.map(({ prNumber }) => prNumber).toSorted(), numbers.toSorted());
    servers = [left];
  });
});
