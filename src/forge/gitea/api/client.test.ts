import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { listen } from '../../../../test/helpers/listen.ts';
import { pluck } from '../../../../test/helpers/pluck.ts';
import { recordSpans } from '../../../../test/helpers/record-spans.ts';
import { silentLog } from '../../../../test/helpers/silent-log.ts';
import { systemClock } from '../../../lib/clock.ts';
import { isKnownNotApplied } from '../../known-not-applied.ts';
import { GiteaClient, type GiteaConnection } from './client.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const APP = { owner: 'acme', name: 'app' };

async function clientOf(t: TestContext, handle: Handle, more: Partial<GiteaConnection> = {}) {
  const server = createServer(handle);
  const url = await listen(server);
  const connection = { host: 'git.test', url, token: 'first-token', ...more };
  const client = new GiteaClient({ connection, clock: systemClock, log: silentLog, timeoutMs: 5_000 });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

describe('requests to Gitea', () => {
  it('requests run six at once, and those of landings go first [G160]', async (t) => {
    const waiting: ServerResponse[] = [];
    const order: string[] = [];
    const client = await clientOf(t, ({ url = '' }, response) => {
      order.push(url);
      waiting.push(response);
    });
    const ask = (path: string, isUrgent: boolean) => client.request({ path, isUrgent });
    const all = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => ask(`/slow/${number}`, false));
    const urgent = ask('/landing', true);
    while (waiting.length < 6) await new Promise(setImmediate);
    assert.equal(order.length, 6);
    waiting.shift()?.end('{}');
    while (order.length < 7) await new Promise(setImmediate);
    assert.equal(order[6], '/api/v1/landing');
    const answering = setInterval(() => waiting.shift()?.end('{}'), 5);
    await Promise.all([...all, urgent]);
    clearInterval(answering);
  });

  it('requests are repeated once if they only read, and never if they write [G160]', async (t) => {
    const seen: string[] = [];
    const client = await clientOf(t, ({ method = '' }, response) => {
      seen.push(method);
      response.writeHead(502).end('<html>Bad gateway</html>');
    });
    await assert.rejects(client.request({ repository: APP, path: '/pulls' }), /Gitea answered 502 on acme\/app/);
    await assert.rejects(client.request({ repository: APP, method: 'POST', path: '/pulls' }), /502/);
    assert.deepEqual(seen, ['GET', 'GET', 'POST']);
  });

  it('requests are spans of the request that needs them, without names and tokens [M22]', async (t) => {
    const client = await clientOf(t, (_request, response) => response.writeHead(404).end('{}'));
    const spans = await recordSpans(() => client.request({ repository: APP, path: '/pulls/7', accept: [404] }));
    const attributes = {
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'http.response.status_code': 404,
    };
    assert.deepEqual(pluck(spans, 'name', 'kind', 'attributes'), [['GET gitea', 'client', attributes]]);
  });

  it('requests read every page of a list, also where an operator allows only short ones [G160]', async (t) => {
    const all = Array.from({ length: 7 }, (_, index) => index);
    const client = await clientOf(t, ({ url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://git.test');
      const from = (Number(searchParams.get('page')) - 1) * 3;
      const body = pathname.endsWith('/settings/api') ? { max_response_items: 3 } : all.slice(from, from + 3);
      response.end(JSON.stringify(body));
    });
    assert.deepEqual(await client.list({ repository: APP, path: '/labels' }, 20), all);
  });

  it('requests follow a rename with the same method, and lead to no other host [G160]', async (t) => {
    const seen: string[] = [];
    const client = await clientOf(t, ({ method, url = '' }, response) => {
      seen.push(`${method} ${url}`);
      if (url.includes('/old')) response.writeHead(301, { location: url.replace('/old', '/new') }).end();
      else if (url.includes('/away')) response.writeHead(301, { location: 'http://127.0.0.2:9/x' }).end();
      else response.end('{"id":1}');
    });
    await client.request({ repository: { owner: 'acme', name: 'old' }, method: 'PATCH', path: '', body: {} });
    assert.deepEqual(seen, ['PATCH /api/v1/repos/acme/old', 'PATCH /api/v1/repos/acme/new']);
    await assert.rejects(client.request({ path: '/away' }), /Gitea answered 301/);
  });

  it('the client reads a refused token again, and says in words why it is refused [G160] [G100]', async (t) => {
    const tokens: (string | undefined)[] = [];
    const client = await clientOf(
      t,
      ({ headers, url }, response) => {
        tokens.push(headers.authorization);
        if (headers.authorization === 'token first-token') response.writeHead(401).end('{"message":"invalid"}');
        else if (url?.includes('scope')) response.writeHead(403).end('{"message":"required scope(s): write:issue"}');
        else response.end('{}');
      },
      { reload: async () => 'second-token' },
    );
    await client.request({ path: '/user' });
    assert.deepEqual(tokens, ['token first-token', 'token second-token']);
    await assert.rejects(client.request({ path: '/scope' }), /The token lacks a scope: required scope/);
  });

  it('requests tell whether a write that got no answer can have happened [G160]', async () => {
    const server = createServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const connection = { host: 'git.test', url, token: 'first-token' };
    const client = new GiteaClient({ connection, clock: systemClock, log: silentLog });
    const error = await client.request({ method: 'POST', path: '/x' }).catch((reason: unknown) => reason);
    assert.ok(isKnownNotApplied(error));
    client.close();
  });
});
