import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { findRelease, unpackRelease } from '../helpers/earlier-release.ts';
import { createDatabase, createEmptyDatabase, query } from '../helpers/postgres.ts';
import { makeFolder, type ServerProcess, startServer, until } from './harness.ts';
import { createQueue } from './test-queue.ts';

/** Version 0.2.0 does not know the setting. */
const OF_0_2_0 = { confirmFailures: undefined };

const TOKEN = 'the-administrator-of-all';

/** Much shorter than the drain of the servers, as operators are told: a busy machine delays the answers of probes. */
const PROBE_MS = 100;
const DRAIN_SECONDS = '3';
/** Four clients without a pause would take the processor from the servers that they ask. */
const CLIENT_PAUSE_MS = 50;

/** Sends requests to the servers in turn that were ready when it asked last. It repeats none, so that every failure counts. */
class Balancer {
  readonly #servers = new Set<string>();
  readonly #agent = new Agent({ keepAlive: true });
  #isClosed = false;
  #ready: readonly string[] = [];
  #next = 0;

  constructor() {
    void this.#probeAll();
  }

  async add(url: string): Promise<void> {
    this.#servers.add(url);
    await until('the balancer knows the server', 60_000, async () => (this.#ready.includes(url) ? true : undefined));
  }

  remove(url: string): void {
    this.#servers.delete(url);
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  post(operation: string, body: unknown): Promise<{ status: number | undefined; text: string }> {
    const url = this.#ready[this.#next++ % this.#ready.length];
    assert.ok(url !== undefined, 'no server is ready');
    return this.#send(`${url}/v1/${operation}`, body);
  }

  /** One probe at a time: a slow answer cannot replace a newer one. */
  async #probeAll(): Promise<void> {
    while (!this.#isClosed) {
      await this.#probe();
      await setTimeout(PROBE_MS);
    }
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

const before = findRelease('0.2.0');

test(
  'servers of 0.2.0 are replaced one by one without a failed request [D37]',
  {
    skip: before.isMissing,
  },
  async (t) => replaceAll(t, unpackRelease(before, await makeFolder())),
);

/** 0.2.0 believes that these servers live, so that the home of nearly every queue is one of them. */
async function storePeers(database: string, address: string): Promise<void> {
  await query(database, [
    'delete from servers',
    `insert into servers select 'peer-' || n, '${address}', '0.2.0', 9e15::bigint from generate_series(1, 40) as n`,
  ]);
}

test('a server sends nothing to the addresses that 0.2.0 stored or configured [D30]', async (t) => {
  const url = await createDatabase();
  const stranger = createServer();
  let calls = 0;
  stranger.on('connection', (socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.after(() => stranger.close());
  const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const server = await startServer({ SLUICE_DATABASE_URL: url, SLUICE_SERVER_URL: address });
  t.after(() => server.stop());
  const told = server.output.err.split('\n').filter((line) => line.includes('SLUICE_SERVER_URL'));
  assert.deepEqual(
    told.map((line) => JSON.parse(line).text),
    ['SLUICE_SERVER_URL has no effect: servers no longer send requests to each other. Remove it.'],
  );
  await storePeers(url, address);
  const queue = await createQueue(server.api);
  t.after(() => queue.close());
  for (let index = 0; index < 8; index++) await queue.submitOne();
  assert.equal(calls, 0);
});

test('a server of 0.2.0 that dials a server without a link does the work itself [D37]', {
  skip: before.isMissing,
}, async (t) => {
  const [folder, url] = [await makeFolder(), await createEmptyDatabase()];
  const start = (name: string, command?: readonly string[]) =>
    startServer({ SLUICE_DATABASE_URL: url, SLUICE_ADMIN_TOKEN: TOKEN, SLUICE_DATA: join(folder, name) }, command);
  // The first start of this version migrates the database, and 0.2.0 goes on beside it.
  const old = await start('old', unpackRelease(before, await makeFolder()));
  const now = await start('now');
  t.after(() => Promise.all([now.stop(), old.stop()]));
  await storePeers(url, now.url);
  const queue = await createQueue(old.api, OF_0_2_0);
  t.after(() => queue.close());
  await until('0.2.0 dials the other server', 30_000, async () => {
    await queue.submitOne();
    return old.output.err.includes(`"address":"${now.url}"`) ? true : undefined;
  });
});

/** The first two servers are of an earlier release. */
async function replaceAll(t: TestContext, earlier?: readonly string[]): Promise<void> {
  const [folder, url] = [await makeFolder(), await createEmptyDatabase()];
  let count = 0;
  const start = (command?: readonly string[]) =>
    startServer(
      {
        SLUICE_DATABASE_URL: url,
        SLUICE_ADMIN_TOKEN: TOKEN,
        SLUICE_DRAIN: DRAIN_SECONDS,
        SLUICE_DATA: join(folder, `server-${count++}`),
      },
      command,
    );
  let servers: ServerProcess[] = await Promise.all([start(earlier), start(earlier)]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const queue = await createQueue((servers[0] as ServerProcess).api, OF_0_2_0);
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
      await setTimeout(CLIENT_PAUSE_MS);
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
}
