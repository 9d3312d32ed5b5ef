import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { problemOf } from '../../test/e2e/harness.ts';
import { connect, head } from '../../test/e2e/harness-sockets.ts';
import { createInProcess, type InProcess, TOKEN } from '../../test/worlds/server/in-process.ts';
import { Fault } from '../lib/fault.ts';

describe('a request that is late', () => {
  let world: InProcess;
  let port: number;
  before(async () => {
    world = await createInProcess({ requestTimeoutMs: 300 });
    await world.server.listen({ host: '127.0.0.1', port: 0 });
    port = (world.server.server.address() as AddressInfo).port;
  });
  after(() => world.close());

  for (const [what, headers, part] of [
    ['stalls in its body', { 'content-length': 100 }, '{"repo":'],
    ['never begins its body', { 'content-length': 100 }, ''],
    ['stalls between two chunks', { 'transfer-encoding': 'chunked' }, '2\r\n{"\r\n'],
    ['stalls while it is unpacked', { 'content-length': 100, 'content-encoding': 'gzip' }, '\u001f'],
  ] as const) {
    test(`one that ${what} is answered with 408, and the connection ends`, async () => {
      const connection = await connect(port);
      connection.write(head('/v1/getQueue', { 'x-api-token': TOKEN, 'content-type': 'application/json', ...headers }));
      connection.write(part);
      problemOf(await connection.answer(), '408 REQUEST_TIMEOUT');
      await connection.closed();
      assert.equal((await world.server.inject('/healthz')).statusCode, 200);
    });
  }

  for (const [what, path, headers, status] of [
    ['refused for its token', '/v1/getQueue', {}, 401],
    ['an upload refused for its token', '/v1/flaky-tests/upload-results', {}, 401],
    ['for nothing that there is', '/v1/nothing', { 'x-api-token': TOKEN }, 404],
    ['to an address that cannot be decoded', '/v1/%zz', {}, 404],
    ['answered without its body', '/v1/flakytests-cli/upload-metrics', {}, 200],
  ] as const) {
    test(`one that is ${what} is not waited for when it is answered`, async () => {
      const connection = await connect(port);
      connection.write(head(path, { 'content-type': 'application/json', 'content-length': 100, ...headers }));
      assert.equal((await connection.answer()).status, status);
      await connection.closed();
    });
  }

  test('one that stalls in its head is answered with 408', async () => {
    const connection = await connect(port);
    connection.write('POST /v1/getQueue HTTP/1.1\r\nhost: x\r\n');
    problemOf(await connection.answer(), '408 REQUEST_TIMEOUT');
    await connection.closed();
  });
});

describe('a rate limit', () => {
  let world: InProcess;
  before(async () => {
    world = await createInProcess({ rateLimit: 2 });
  });
  after(() => world.close());

  test('lets a second of calls through at once, then as many as time earns', async () => {
    const statuses = async (count: number) => {
      const list: number[] = [];
      for (let call = 0; call < count; call++) list.push((await world.post('/v1/listRepositories', {})).status);
      return list;
    };
    assert.deepEqual(await statuses(3), [200, 200, 429]);
    world.clock.set(world.clock.now() + 499);
    assert.deepEqual(await statuses(1), [429]);
    world.clock.set(world.clock.now() + 1);
    assert.deepEqual(await statuses(2), [200, 429]);
    world.clock.set(world.clock.now() - 60_000);
    assert.deepEqual(await statuses(1), [429]);
    world.clock.set(world.clock.now() + 60_000_000);
    assert.deepEqual(await statuses(3), [200, 200, 429]);
  });
});

describe('internal errors', () => {
  let world: InProcess;
  before(async () => {
    world = await createInProcess();
  });
  after(() => world.close());

  test('a bug is a 500 that says nothing of the inside [H20]', async () => {
    const { listTokens } = world.store.accounts;
    Object.assign(world.store.accounts, {
      listTokens: async () => {
        throw new TypeError('SELECT secret FROM /srv/data');
      },
    });
    const problem = await world.refused('500 INTERNAL', '/v1/listApiTokens', {});
    assert.doesNotMatch(JSON.stringify(problem), /SELECT|srv|TypeError|at /);
    Object.assign(world.store.accounts, { listTokens });
    await world.ok('/v1/listApiTokens', {});
  });

  test('a store that does not answer is a 503, for readyz too, and healthz goes on [M28]', async () => {
    const { listTokens } = world.store.accounts;
    const fail = async () => {
      throw new Fault('STORE_UNAVAILABLE', 'The store does not answer.');
    };
    const { ping } = world.store;
    Object.assign(world.store.accounts, { listTokens: fail });
    Object.assign(world.store, { ping: fail });
    await world.refused('503 UNAVAILABLE', '/v1/listApiTokens', {});
    const notReady = await world.server.inject('/readyz');
    assert.equal(notReady.statusCode, 503);
    assert.equal(notReady.json().detail, 'The store does not answer.');
    assert.equal((await world.server.inject('/healthz')).statusCode, 200);
    assert.match(await readMetrics(), /^sluice_ready\{\} 0$/m);
    Object.assign(world.store.accounts, { listTokens });
    Object.assign(world.store, { ping });
    world.clock.set(world.clock.now() + 3_000);
    assert.equal((await world.server.inject('/readyz')).statusCode, 200);
    assert.match(await readMetrics(), /^sluice_ready\{\} 1$/m);
  });

  const readMetrics = async () =>
    (await world.server.inject({ url: '/metrics', headers: { 'x-api-token': TOKEN } })).body;
});

describe('headers for browsers', () => {
  let world: InProcess;
  before(async () => {
    world = await createInProcess();
  });
  after(() => world.close());

  const PAGES = [
    '/acme/pull-requests/7?repo=acme%2Fapp&host=local',
    '/docs',
    '/docs/dashboard.md',
    '/docs/operating/backups.md',
    '/acme/flaky-tests/test/4a4f1d3e-5a0b-5c8e-9a7f-0123456789ab',
    '/acme/settings',
  ];
  for (const url of [...PAGES, '/', '/healthz', '/readyz', '/openapi.json', '/nothing', '/v1/%zz', '/v1/getQueue']) {
    test(`${url} has a header against type sniffing, and one that names the version [H18] [H41]`, async () => {
      const { headers } = await world.server.inject(url);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.match(String(headers['sluice-version']), /^\S+$/);
    });
  }

  test('the documentation is served without a token, with its links, anchors and pictures [H52]', async () => {
    const read = async (path: string) => (await world.server.inject(`/docs/${path}`)).body;
    const page = await read('troubleshooting.md');
    assert.match(page, /<h2 id="a-pull-request-was-removed">[\s\S]*<a href="removed\.md">/);
    assert.equal(await read(''), await read('README.md'));
    assert.doesNotMatch(await read('operating/upgrades.md'), /CHANGELOG\.md"/, 'a file that no server shows');
    const picture = await world.server.inject('/docs/pictures/queue.png');
    assert.equal(picture.headers['content-type'], 'image/png');
    for (const path of ['nothing.md', '../package.json', '%2e%2e/package.json', 'pictures', '%00']) {
      const { statusCode } = await world.server.inject(`/docs/${path}`);
      assert.ok(statusCode === 404 || statusCode === 400, `${path}: ${statusCode}`);
    }
  });

  for (const url of PAGES) {
    test(`the page ${url.slice(0, 20)} is shown in no other page, and runs nothing [H34] [A19]`, async () => {
      const { statusCode, headers } = await world.server.inject(url);
      assert.deepEqual([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8']);
      const policy = String(headers['content-security-policy']);
      for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"]) {
        assert.ok(policy.includes(rule), policy);
      }
    });
  }
});
