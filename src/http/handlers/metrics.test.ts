import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useServer } from '../../../test/e2e/test-queue.ts';

describe('GET /metrics', () => {
  const world = useServer();
  const get = (path: string, token: string) =>
    fetch(`${world.server.url}${path}`, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } });

  test('has the metrics of the server, for operators alone [M16] [M19] [M10]', async () => {
    const { api } = world.server;
    const { token: secret } = await api.ok<{ token: string }>('createApiToken', { name: 'reader', scopes: ['admin'] });
    for (const path of ['/metrics', '/v1/metrics']) {
      assert.equal((await get(path, '')).status, 401);
      assert.equal((await get(path, secret)).status, 403);
      const answer = await get(path, world.server.token);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    }
    await get('/v1/nowhere', secret);
    await get('/default/local/acme/app/main', secret);
    const text = await (await get('/metrics', world.server.token)).text();
    assert.match(text, /^sluice_http_requests_total\{route="\/metrics",status="403"\} 1$/m);
    assert.match(text, /^sluice_http_requests_total\{route="\/v1\/createApiToken",status="200"\} \d+$/m);
    assert.match(text, /^sluice_http_requests_total\{route="none",status="404"\} \d+$/m);
    assert.match(text, /^sluice_http_requests_total\{route="\/:org\/\*",status="200"\} 1$/m);
    assert.match(text, /^sluice_http_request_duration_seconds_bucket\{le="\+Inf"\} \d+$/m);
    assert.match(text, /^mq_backup_failures_total\{\} 0$/m);
    const queues = await (await get('/v1/getMergeQueueMetrics', secret)).text();
    assert.doesNotMatch(queues, /process_|http|store_size|backup|notices|effects/);
    assert.equal((await get('/trunk/v1/metrics', world.server.token)).status, 404);
  });

  test('tells of the ingest process, which does not run without work [M39]', async () => {
    const text = await (await get('/metrics', world.server.token)).text();
    for (const name of ['resident_memory_bytes', 'silent_seconds'])
      assert.match(text, new RegExp(`^sluice_ingest_${name}\\{\\} 0$`, 'm'));
    for (const reason of ['memory', 'stuck'])
      assert.match(text, new RegExp(`^sluice_ingest_kills_total\\{reason="${reason}"\\} 0$`, 'm'));
  });

  test('tells whether the server is ready, and how much room its disk has [M28]', async () => {
    const text = await (await get('/metrics', world.server.token)).text();
    assert.match(text, /^sluice_ready\{\} 1$/m);
    const [free = 0, size = 0] = ['free', 'size'].map((what) =>
      Number(new RegExp(`^sluice_data_disk_${what}_bytes\\{\\} (\\d+)$`, 'm').exec(text)?.[1]),
    );
    assert.ok(free > 0 && free <= size, `${free} of ${size}`);
  });

  test('of a queue tells whether it is paused or frozen [M26]', async () => {
    const queue = await world.aQueue();
    const read = async () => {
      const text = await (await get('/v1/getMergeQueueMetrics', world.server.token)).text();
      return ['paused', 'frozen'].map(
        (what) => new RegExp(`^sluice_queue_${what}\\{.+\\} (\\d)$`, 'm').exec(text)?.[1],
      );
    };
    assert.deepEqual(await read(), ['0', '0']);
    await queue.update({ state: 'PAUSED' });
    assert.deepEqual(await read(), ['1', '0']);
    const [from, until] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString().slice(0, 16));
    await queue.update({ state: 'RUNNING', freezes: [{ name: 'release', from, until }] });
    assert.deepEqual(await read(), ['0', '1']);
  });
});
