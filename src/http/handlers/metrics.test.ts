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
});
