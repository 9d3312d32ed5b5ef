import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { pluck } from '../../../../test/helpers/pluck.ts';
import { systemClock } from '../../../lib/clock.ts';
import { EVENTS } from '../api/app-needs.ts';
import { GithubClient } from '../api/client.ts';
import { githubConnection } from '../api/connection.ts';
import { inspectWebhook } from './webhook.ts';

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** This server answers only the requests of an App about itself. */
let server: Server;
let answers: Readonly<Record<string, unknown>> = {};

before(async () => {
  server = createServer((request, response) => {
    const answer = answers[new URL(request.url ?? '', 'http://x').pathname];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { message: 'Not Found' }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
after(() => {
  server.closeAllConnections();
  server.close();
});

async function look(deliveries: unknown, options: { events?: readonly string[]; secret?: string } = {}) {
  const { events = EVENTS, secret = 'a long secret' } = options;
  answers = {
    '/app': { id: 7, slug: 'sluice', events },
    '/app/hook/deliveries': deliveries,
    '/app/hook/config': { url: 'https://user:hidden@hooks.example.test/webhooks/github?key=hidden' },
  };
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const auth = {
    kind: 'app',
    appId: '7',
    privateKey: KEY,
    ...(secret === '' ? {} : { webhookSecret: secret }),
  } as const;
  const connection = githubConnection({ host: 'github.test', auth, apiUrl, webUrl: apiUrl });
  const client = new GithubClient({ connection, clock: systemClock, log, paceMs: 0 });
  try {
    return await inspectWebhook(client);
  } finally {
    client.close();
  }
}

describe('deliveries', () => {
  it('deliveries that arrive are fine [G96]', async () => {
    const found = await look([{ delivered_at: '2026-09-17T10:16:02Z', status_code: 202, status: 'OK' }]);
    assert.deepEqual(pluck(found, 'code'), ['WEBHOOK']);
  });

  it('deliveries that fail are told with GitHub’s reason [G96]', async () => {
    const [failing] = await look([{ delivered_at: '2026-09-17T10:16:02Z', status_code: 502, status: 'Bad Gateway' }]);
    assert.deepEqual([failing?.level, failing?.code], ['error', 'WEBHOOK_FAILING']);
    assert.match(
      failing?.text ?? '',
      /to hooks\.example\.test at 2026-09-17T10:16:02Z was answered with 502 \(Bad Gateway\).*\/webhooks\/github/,
    );
    assert.doesNotMatch(failing?.text ?? '', /hidden/);
    const [silent] = await look([{ status_code: 0, status: 'failed to connect to host' }]);
    assert.match(silent?.text ?? '', /was not answered \(failed to connect to host\)/);
  });

  it('deliveries that failed before others arrived are told, but not those that arrived when sent again [G96]', async () => {
    const good = { status_code: 202, status: 'OK' };
    const bad = { delivered_at: '2026-09-17T10:15:00Z', status_code: 503, status: 'Service Unavailable' };
    const [unsteady] = await look([
      { guid: 'c', ...good },
      { guid: 'b', ...bad },
      { guid: 'a', ...good },
    ]);
    assert.deepEqual([unsteady?.level, unsteady?.code], ['warning', 'WEBHOOK_UNSTEADY']);
    assert.match(unsteady?.text ?? '', /last 3 events .* 1 did not arrive; .* at 2026-09-17T10:15:00Z .* 503/);
    const again = await look([
      { guid: 'b', ...good },
      { guid: 'b', ...bad },
    ]);
    assert.deepEqual(pluck(again, 'code'), ['WEBHOOK']);
  });

  it('unreadable deliveries give no finding [G96]', async () => {
    assert.deepEqual(await look({ message: 'odd' }), []);
    assert.equal((await look([null, {}]))[0]?.code, 'WEBHOOK_FAILING');
  });

  it('the inspection tells that no delivery was made, that events are missing, or that there is no secret [G96]', async () => {
    assert.deepEqual(pluck(await look([]), 'code'), ['WEBHOOK_SILENT']);
    const [missing] = await look(undefined, { events: EVENTS.filter((event) => event !== 'push') });
    assert.match(missing?.text ?? '', /noticed later: push\./);
    assert.deepEqual(pluck(await look([], { secret: '' }), 'code'), ['WEBHOOK_OFF']);
  });
});
