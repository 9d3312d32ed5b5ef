import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { type Client, problemOf, until } from '../../../test/e2e/harness.ts';
import { type TestQueue, useServer } from '../../../test/e2e/test-queue.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { type Received, WebhookReceiver } from '../../../test/helpers/webhook-receiver.ts';
import type { FeedEvent } from '../../app/core/feed-event.ts';

interface Made {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
}

describe('webhooks', () => {
  const world = useServer({ SLUICE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  const receiver = madeOnce(() => new WebhookReceiver().start());
  let queue: TestQueue;
  before(async () => {
    queue = await world.aQueue();
  });

  const create = (more: object = {}, api: Client = world.server.api) =>
    api.ok<Made>('createWebhook', {
      ...{ name: 'ci', url: `${receiver.url}/secret-path?key=1`, format: 'STANDARD', types: ['pull_request.*'] },
      ...more,
    });
  const tokenFor = async (of: object) =>
    world.server.api.withToken(
      (await world.server.api.ok<{ token: string }>('createApiToken', { name: 'other', scopes: ['admin'], ...of }))
        .token,
    );
  const at = (path: string): readonly Received[] => receiver.received.filter((each) => each.path === path);

  test('tell a receiver of a pull request, in messages that both libraries verify [X30] [X52]', async () => {
    const path = '/life';
    const made = await create({ url: `${receiver.url}${path}`, repositories: [queue.repo] });
    const prNumber = await queue.submitOne();
    await queue.ci.pass(prNumber);
    await queue.untilEntry(prNumber, ({ state }) => state === 'MERGED');
    const got = await until('four messages', 10_000, async () => (at(path).length >= 4 ? at(path) : undefined));
    const bodies = got.map(({ body, headers }) => {
      new SvixWebhook(made.secret).verify(body, headers);
      return new StandardWebhook(made.secret).verify(body, headers) as Record<string, unknown>;
    });
    assert.deepEqual(
      pluck(bodies, 'type'),
      ['submitted', 'queued', 'testing', 'merged'].map((word) => `pull_request.${word}`),
    );
    for (const body of bodies) {
      assert.deepEqual([body['pr_number'], body['target_branch']], [prNumber, 'main']);
      assert.deepEqual(body['repository'], queue.repo);
      const page = `/default/local/acme/${queue.repo.name}/main/pr/${prNumber}`;
      assert.equal(body['http_details_url'], `http://localhost${page}`);
      assert.equal(typeof body['author'], 'string');
    }
    const { pathname } = new URL(String(bodies[0]?.['http_details_url']));
    assert.equal((await fetch(`${world.server.url}${pathname}`)).status, 200);
    assert.match(String(bodies[3]?.['test_branch']), new RegExp(`^sluice/pr-${prNumber}/`));
    assert.equal(bodies[3]?.['merged_reason'], 'MERGE_GRAPH_MERGE');
    await world.server.api.ok('deleteWebhook', { id: made.id });
  });

  test('show neither address nor secret again, and each act is an event without them [X29] [X40]', async () => {
    const made = await create({ name: 'masked' });
    assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    await world.server.api.ok('updateWebhook', { id: made.id, name: 'renamed', url: `${receiver.url}/other-path` });
    const listed = await world.server.api.ok<object>('listWebhooks', {});
    await world.server.api.ok('deleteWebhook', { id: made.id });
    const { events } = await world.server.api.ok<{ events: readonly FeedEvent[] }>('listEvents', {
      ...{ types: ['webhook.*'], order: 'ASC', limit: 200 },
    });
    const own = events.filter(({ data }) => data['webhookId'] === made.id);
    assert.deepEqual(pluck(own, 'type'), ['webhook.created', 'webhook.changed', 'webhook.deleted']);
    const text = JSON.stringify([listed, events, made.url]);
    for (const part of ['secret-path', 'other-path', made.secret.slice(6)]) assert.ok(!text.includes(part), part);
    assert.equal(made.url, `${receiver.url}/…`);
  });

  test('sign with both secrets after a rotation [X28]', async () => {
    const made = await create({ url: `${receiver.url}/rotated` });
    const rotated = await world.server.api.ok<Made>('rotateWebhookSecret', { id: made.id });
    assert.notEqual(rotated.secret, made.secret);
    assert.deepEqual(await world.server.api.ok('testWebhook', { id: made.id }), { delivered: true, status: 204 });
    const [message] = at('/rotated');
    assert.ok(message);
    for (const { secret } of [made, rotated]) new StandardWebhook(secret).verify(message.body, message.headers);
    await world.server.api.ok('deleteWebhook', { id: made.id });
  });

  test('answer of a test only the status of the endpoint [X25] [X38]', async () => {
    const made = await create({ url: `${receiver.url}/failing` });
    receiver.answer = (response) => response.writeHead(500).end('a secret of the endpoint');
    assert.deepEqual(await world.server.api.ok('testWebhook', { id: made.id }), { delivered: false, status: 500 });
    receiver.answer = (response) => response.writeHead(204).end();
    assert.deepEqual(await world.server.api.ok('listWebhookDeliveries', { id: made.id }), { deliveries: [] });
    await world.server.api.ok('deleteWebhook', { id: made.id });
  });

  test('refuse addresses that are not public without the scope instance, and other bad wishes [X42] [X44]', async () => {
    const admin = await tokenFor({});
    for (const url of ['http://127.0.0.1/', 'http://2130706433/', 'http://[::ffff:127.0.0.1]/', 'http://[::1]/']) {
      const body = { name: 'x', url, format: 'STANDARD', types: ['queue.*'] };
      const problem = problemOf(await admin.post('createWebhook', body), '400 VALIDATION_FAILED');
      assert.match(JSON.stringify(problem), /is not a public address/);
    }
    for (const [more, sentence] of [
      [{ url: 'ftp://example.com/' }, /begins with https/],
      [{ url: 'https://ada:pw@example.com/' }, /user or a password/],
      [{ url: 'http://10.0.0.1/' }, /is not a public address/],
      [{ types: ['pull_request.merge'] }, /Did you mean pull_request\.merged\?"/],
      [{ types: [] }, /types/],
      [{ secret: 'whsec_short' }, /24 to 64 bytes/],
      [{ format: 'XML' }, /STANDARD, SLACK, TEAMS/],
    ] as const) {
      const body = { name: 'x', url: 'https://example.com/', format: 'STANDARD', types: ['queue.*'], ...more };
      const problem = problemOf(await world.server.api.post('createWebhook', body), '400 VALIDATION_FAILED');
      assert.match(JSON.stringify(problem), sentence);
    }
    const cursor = { id: '3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10', cursor: '12.msg_x' };
    problemOf(await world.server.api.post('listWebhookDeliveries', cursor), '400 VALIDATION_FAILED');
  });

  test('are for admins of their organization [X27]', async () => {
    const made = await create({ url: 'https://example.com/' });
    const reader = await tokenFor({ scopes: ['read'] });
    problemOf(await reader.post('listWebhooks', {}), '403 INSUFFICIENT_SCOPE');
    const { token } = await world.server.api.ok<{ token: string }>('createOrganization', {
      slug: 'webhooks-elsewhere',
    });
    const stranger = world.server.api.withToken(token);
    assert.deepEqual(await stranger.ok('listWebhooks', {}), { webhooks: [] });
    for (const act of [
      'updateWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'testWebhook',
      'listWebhookDeliveries',
    ]) {
      problemOf(await stranger.post(act, { id: made.id }), '404 WEBHOOK_NOT_FOUND');
    }
    const other = await world.aQueue();
    const limited = await tokenFor({ repositories: [other.repo] });
    const body = { name: 'x', url: 'https://example.com/', format: 'SLACK', types: ['queue.*'] };
    problemOf(await limited.post('createWebhook', { ...body, repositories: [queue.repo] }), '404 REPOSITORY_NOT_FOUND');
    const own = await limited.ok<{ repositories: unknown }>('createWebhook', body);
    assert.deepEqual(own.repositories, [other.repo]);
  });
});
