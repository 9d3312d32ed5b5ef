import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDatabase } from '../helpers/postgres.ts';
import { makeFolder, type ServerProcess, startServer } from './harness.ts';
import { createQueue } from './test-queue.ts';

const TOKEN = 'the-administrator-of-all';

/** Shorter than the drain of the servers, as operators are told. */
const PROBE_MS = 100;

/** Sends requests to the servers in turn that were ready when it asked last. It repeats none, so that every failure counts. */
class Balancer {
  readonly #servers = new Set<string>();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #probes = setInterval(() => void this.#probe(), PROBE_MS);
  #ready: readonly string[] = [];
  #next = 0;

  async add(url: string): Promise<void> {
    this.#servers.add(url);
    await this.#probe();
  }

  remove(url: string): void {
    this.#servers.delete(url);
  }

  close(): void {
    clearInterval(this.#probes);
    this.#agent.destroy();
  }

  post(operation: string, body: unknown): Promise<{ status: number | undefined; text: string }> {
    const url = this.#ready[this.#next++ % this.#ready.length];
    assert.ok(url !== undefined, 'no server is ready');
    return this.#send(`${url}/v1/${operation}`, body);
  }

  async #probe(): Promise<void> {
    const probed = [...this.#servers].map(async (url) => {
      const answer = await this.#send(`${url}/readyz`, undefined).catch(() => undefined);
      return answer?.status === 200 ? [url] : [];
    });
    this.#ready = (await Promise.all(probed)).flat();
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

test('servers are replaced one by one without a failed request [D37] [D38]', async (t) => {
  const [folder, url] = [await makeFolder(), await createDatabase()];
  let count = 0;
  const start = () =>
    startServer({
      SLUICE_DATABASE_URL: url,
      SLUICE_ADMIN_TOKEN: TOKEN,
      SLUICE_DRAIN: '1',
      SLUICE_DATA: join(folder, `server-${count++}`),
    });
  let servers: ServerProcess[] = await Promise.all([start(), start()]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const queue = await createQueue((servers[0] as ServerProcess).api);
  t.after(() => queue.close());
  const numbers: number[] = [];
  for (let index = 0; index < 8; index++) numbers.push(await queue.openPullRequest());

  const balancer = new Balancer();
  t.after(() => balancer.close());
  for (const server of servers) await balancer.add(server.url);
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
    await balancer.add(coming.url);
    const exit = await leaving.stop();
    assert.equal(exit.code, 0);
    balancer.remove(leaving.url);
    servers = [...servers.filter((server) => server !== leaving), coming];
  }
  isOver = true;
  await clients;
  assert.ok(answered > 20, `${answered}`);
});
