import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDatabase } from '../helpers/postgres.ts';
import { makeFolder, type ServerProcess, startServer } from './harness.ts';
import { createQueue } from './test-queue.ts';

const TOKEN = 'the-administrator-of-all';

/** Asks the servers in turn, as a load balancer does: one that is not ready, or refuses a connection, is passed over. */
class Balancer {
  readonly servers: string[] = [];
  readonly #agent = new Agent({ keepAlive: false });
  #next = 0;

  async post(operation: string, body: unknown): Promise<{ status: number | undefined; text: string }> {
    for (let tries = 0; tries < 20; tries++) {
      const url = this.servers[this.#next++ % this.servers.length] as string;
      const ready = await this.#send(`${url}/readyz`, undefined).catch(() => undefined);
      if (ready?.status !== 200) continue;
      const answer = await this.#send(`${url}/v1/${operation}`, body).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNREFUSED') throw error;
      });
      if (answer !== undefined) return answer;
    }
    throw new Error('no server is ready');
  }

  #send(url: string, body: unknown): Promise<{ status: number | undefined; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; text: string }>();
    const headers = { 'x-api-token': TOKEN, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const method = body === undefined ? 'GET' : 'POST';
    const asked = request(url, { agent: this.#agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text })).on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }
}

test('servers are replaced one by one without a failed request [D37]', async (t) => {
  const [folder, url] = [await makeFolder(), await createDatabase()];
  let count = 0;
  const start = () =>
    startServer({
      SLUICE_DATABASE_URL: url,
      SLUICE_ADMIN_TOKEN: TOKEN,
      SLUICE_DATA: join(folder, `server-${count++}`),
    });
  let servers: ServerProcess[] = await Promise.all([start(), start()]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const queue = await createQueue((servers[0] as ServerProcess).api);
  t.after(() => queue.close());
  const numbers: number[] = [];
  for (let index = 0; index < 8; index++) numbers.push(await queue.openPullRequest());

  const balancer = new Balancer();
  balancer.servers.push(...servers.map((server) => server.url));
  let isOver = false;
  let answered = 0;
  const client = async (first: number) => {
    for (let index = first; !isOver; index++) {
      const number = numbers[index % numbers.length] as number;
      const operation = index % 5 === 0 ? 'getQueue' : 'submitPullRequest';
      const body = operation === 'getQueue' ? queue.ref : { ...queue.entry(number), priority: index % 200 };
      const { status, text } = await balancer.post(operation, body);
      assert.equal(status, 200, text);
      answered += 1;
    }
  };
  const clients = Promise.all([0, 2, 4, 6].map(client));
  clients.catch(() => {});
  for (const leaving of servers) {
    const coming = await start();
    balancer.servers.push(coming.url);
    const exit = await leaving.stop();
    assert.equal(exit.code, 0);
    balancer.servers.splice(balancer.servers.indexOf(leaving.url), 1);
    servers = [...servers.filter((server) => server !== leaving), coming];
  }
  isOver = true;
  await clients;
  assert.ok(answered > 20, `${answered}`);
});
