// Traces of requests and of stays in a queue, as a strict receiver of OpenTelemetry gets them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { traceIdOf } from '../../src/app/queue/entry-trace.ts';
import type { DecodedSpan } from '../helpers/decode-otlp.ts';
import { createDatabase } from '../helpers/postgres.ts';
import { TraceReceiver } from '../helpers/trace-receiver.ts';
import { makeFolder, type ServerProcess, startHere, startServer, type TestServer } from './harness.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

const parentOf = (trace: readonly DecodedSpan[], { parentId }: DecodedSpan) =>
  trace.find(({ spanId }) => spanId === parentId)?.name;
const namesOf = (trace: readonly DecodedSpan[]) => trace.map(({ name }) => name).sort();
const endOf = async (queue: TestQueue, number: number, expected: string) =>
  (await queue.untilEntry(number, ({ state }) => state === expected)).id as string;
const traceparentOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

describe('a server with traces', () => {
  const receiver = new TraceReceiver();
  let server: TestServer;
  let queue: TestQueue;
  before(async () => {
    await receiver.start();
    server = await startHere({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    queue = await createQueue(server.api);
  });
  after(async () => {
    await server.stop();
    await queue.close();
    await receiver.close();
  });

  const post = (operation: string, body: unknown, traceparent: string, id: string) =>
    server.api.send(operation, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', traceparent, 'x-request-id': id },
    });
  const spanOf = (id: string) => receiver.find(id, ({ attributes }) => attributes['sluice.request.id'] === id);

  test('tells of a request, below the span of its caller [M22]', async () => {
    const number = await queue.openPullRequest();
    await post('submitPullRequest', queue.entry(number), traceparentOf('a'), 'submit-1');
    const span = await spanOf('submit-1');
    assert.deepEqual([span.traceId, span.parentId], ['a'.repeat(32), 'a'.repeat(16)]);
    assert.deepEqual([span.name, span.kind, span.isError], ['submitPullRequest', 'server', false]);
    assert.deepEqual(span.attributes, {
      'http.request.method': 'POST',
      'http.route': '/v1/submitPullRequest',
      'sluice.request.id': 'submit-1',
      'http.response.status_code': 200,
    });
    const trace = receiver.traceOf(span.traceId, span.parentId);
    const children = trace.filter((each) => each !== span);
    assert.ok(children.some(({ name }) => name === 'queue commit'));
    for (const child of children) assert.ok(child.start >= span.start, child.name);
    assert.equal(span.resource['service.name'], 'sluice');
    assert.equal(span.resource['deployment.environment.name'], 'test');
    assert.ok(receiver.headers.every((headers) => headers['x-key'] === 'a b'));
    await server.api.ok('cancelPullRequest', queue.entry(number));
  });

  test('tells of a refusal by its code, and begins a trace where the header is malformed [M22]', async () => {
    await post('getQueue', { ...queue.ref, targetBranch: 'none' }, '00-nonsense', 'refused-1');
    const { attributes, parentId, isError } = await spanOf('refused-1');
    assert.deepEqual(
      [attributes['http.response.status_code'], attributes['error.type'], parentId, isError],
      [404, 'QUEUE_NOT_FOUND', undefined, false],
    );
    await server.api.withToken('wrong').send('getQueue', { method: 'POST', headers: { 'x-request-id': 'stranger-1' } });
    assert.equal((await spanOf('stranger-1')).attributes['error.type'], 'INVALID_TOKEN');
  });

  test('tells of uploads and webhooks, and not of health, scrapes or pages [M22]', async () => {
    for (const path of ['healthz', 'readyz', 'metrics', 'docs', 'none']) await fetch(`${server.url}/${path}`);
    await fetch(`${server.url}/uploads/some?signature=secret`, { method: 'PUT', body: 'x' });
    await fetch(`${server.url}/webhooks/github/github.com`, { method: 'POST', body: 'x' });
    const webhook = await receiver.find('the webhook', ({ name }) => name === 'POST /webhooks/:kind/:host?');
    assert.equal(webhook.attributes['error.type'], 'INVALID_SIGNATURE');
    await receiver.find('the upload', ({ name }) => name === 'PUT /uploads/:id');
    const routes = new Set(receiver.spans.map(({ attributes }) => attributes['http.route']));
    for (const route of ['/healthz', '/readyz', '/metrics', '/docs', 'none']) assert.ok(!routes.has(route), route);
  });

  test('keeps to what the caller decided about its trace [M25]', async () => {
    await post('getQueue', queue.ref, `00-${'b'.repeat(32)}-${'b'.repeat(16)}-00`, 'unsampled-1');
    await post('getQueue', queue.ref, traceparentOf('c'), 'sampled-1');
    await spanOf('sampled-1');
    assert.deepEqual(receiver.traceOf('b'.repeat(32)), []);
  });

  test('tells of a stay that landed, with its test and its landing [M23]', async () => {
    await server.api.ok('updateQueue', { ...queue.ref, state: 'PAUSED' });
    const number = await queue.submitOne();
    await server.api.ok('updateQueue', { ...queue.ref, state: 'RUNNING' });
    await queue.ci.pass(number);
    const id = await endOf(queue, number, 'MERGED');
    const root = await receiver.find('the stay', ({ attributes }) => attributes['sluice.entry.id'] === id);
    assert.deepEqual([root.name, root.traceId, root.parentId], ['pull request in queue', traceIdOf(id, 1), undefined]);
    assert.deepEqual(root.attributes, {
      'sluice.repository': queue.name,
      'sluice.queue': 'main',
      'sluice.pull_request': number,
      'sluice.entry.id': id,
      'sluice.stay': 1,
      'sluice.outcome': 'MERGED',
      'sluice.reason': 'MERGE_GRAPH_MERGE',
    });
    const trace = receiver.traceOf(root.traceId);
    for (const span of trace) {
      assert.ok(span.start >= root.start && span.end <= root.end, span.name);
      assert.ok(span === root || parentOf(trace, span) === root.name);
    }
    for (const name of ['testing', 'test run', 'queue paused', 'landing'])
      assert.ok(namesOf(trace).includes(name), name);
    const run = trace.find(({ name }) => name === 'test run');
    assert.equal(run?.attributes['sluice.test_run.result'], 'passed');
  });

  test('counts spans in its metrics [M24]', async () => {
    const { text } = await server.api.send('../metrics');
    assert.match(
      text,
      /^sluice_trace_spans_total\{result="sent"\} [1-9]\d*\nsluice_trace_spans_total\{result="dropped"\} 0$/m,
    );
  });

  test('never names persons or secrets [M22]', () => {
    const all = JSON.stringify(receiver.spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    for (const word of ['Grace', 'admin', server.token, 'secret']) assert.ok(!all.includes(word), word);
  });
});

describe('two servers with traces', () => {
  const receiver = new TraceReceiver();
  let servers: ServerProcess[];
  let queue: TestQueue;
  before(async () => {
    const [folder, url] = [await makeFolder(), await createDatabase(), await receiver.start()];
    const shared = {
      SLUICE_DATABASE_URL: url,
      SLUICE_ADMIN_TOKEN: 'the-administrator-of-all',
      SLUICE_LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
    };
    const start = (name: string) => startServer({ ...shared, SLUICE_DATA: join(folder, name) });
    servers = await Promise.all([start('one'), start('two')]);
    queue = await createQueue((servers[0] as ServerProcess).api);
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await queue.close();
    await receiver.close();
  });

  test('tell of a stay once [M23]', async () => {
    for (const { api } of servers) await api.ok('cancelPullRequest', queue.entry(await queue.submitOne()));
    const number = await queue.submitOne();
    await queue.ci.pass(number);
    const id = await endOf(queue, number, 'MERGED');
    // A stop sends the rest.
    await Promise.all(servers.map((server) => server.stop()));
    const roots = receiver
      .traceOf(traceIdOf(id, 1))
      .filter(({ parentId }) => parentId === undefined)
      .map(({ name }) => name);
    assert.deepEqual(roots, ['pull request in queue']);
  });

  test('have the id of the trace in the lines of its log [M22]', () => {
    const lines = servers.flatMap(({ output }) => output.err.trim().split('\n')).map((line) => JSON.parse(line));
    const answered = lines.filter(({ path }) => path === '/v1/cancelPullRequest');
    const known = new Set(receiver.spans.map(({ traceId }) => traceId));
    assert.ok(answered.length > 0);
    for (const { trace_id } of answered) assert.ok(known.has(trace_id), trace_id);
  });
});
