import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { until } from '../../../test/e2e/harness.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import { type Answering, WebhookReceiver } from '../../../test/helpers/webhook-receiver.ts';
import { createInProcess, type InProcess } from '../../../test/worlds/server/in-process.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Webhook, WebhookId } from '../../storage/webhooks.ts';
import type { App } from '../core/app.ts';
import { tidy } from '../upkeep/housekeeping.ts';
import { describeServer } from '../upkeep/server-metrics.ts';
import { createDeliveryWorker, type DeliveryWorker } from './deliver.ts';
import { createDeliveryMaker, makeSome } from './make-deliveries.ts';

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

interface DeliveryView {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastProblem: string | null;
  readonly nextAttemptAt: string | null;
}

describe('deliveries of webhooks', () => {
  let world: InProcess;
  const receiver = madeOnce(() => new WebhookReceiver().start());
  let worker: DeliveryWorker | undefined;
  let webhook: { readonly id: string; readonly secret: string };
  beforeEach(async () => {
    world = await createInProcess();
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(204).end();
    webhook = await create();
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await world.app.webhooks.sender.close();
    await world.close();
  });

  const create = (more: object = {}) =>
    world.ok<{ id: string; secret: string }>('/v1/createWebhook', {
      ...{ name: 'ci', url: `${receiver.url}/hook`, format: 'STANDARD', types: ['pull_request.*', 'queue.*'] },
      ...more,
    });
  const list = async (id = webhook.id) =>
    (await world.ok<{ deliveries: readonly DeliveryView[] }>('/v1/listWebhookDeliveries', { id })).deliveries;
  const find = async () => (await world.store.webhooks.find(webhook.id as WebhookId)) as Webhook;

  const anEvent = (prNumber: number, version: number, more: Partial<FeedDraft> = {}): FeedDraft => ({
    ...{ source: `queue ${prNumber}`, version, ordinal: 0, at: world.clock.now(), type: 'pull_request.merged' },
    ...{ organizationId: null, repositoryId: world.repository.id, queueId: null, targetBranch: 'main', prNumber },
    testId: null,
    body: JSON.stringify({ actor: { kind: 'sluice', name: 'sluice' }, text: `#${prNumber}: v${version}`, data: {} }),
    ...more,
  });
  const happen = async (...events: readonly FeedDraft[]) => {
    await world.store.feed.add(events);
    await world.app.feed.sequence();
    while (await makeSome(world.app));
  };
  const start = (app: App = world.app) => {
    worker = createDeliveryWorker(app, 'a');
    worker.start();
  };
  const settled = (isDone: (delivery: DeliveryView) => boolean) =>
    until('the delivery is settled', 10_000, async () => (await list()).find(isDone));
  /** Waits until the first delivery was tried so often. */
  const tried = (attempts: number) => settled((delivery) => delivery.attempts === attempts);

  test('are tried at once and after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, under one id [X24]', async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    await happen(anEvent(7, 1));
    start();
    const delays = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS];
    for (const [index, delayMs] of delays.entries()) {
      const delivery = await tried(index + 1);
      assert.equal(Date.parse(delivery.nextAttemptAt ?? '') - world.clock.now(), delayMs);
      world.clock.set(world.clock.now() + delayMs);
      worker?.wake();
    }
    const ended = await tried(8);
    assert.deepEqual([ended.state, ended.lastStatus, ended.nextAttemptAt], ['FAILED', 500, null]);
    assert.equal(receiver.received.length, 8);
    assert.deepEqual([...new Set(receiver.received.map(({ headers }) => headers['webhook-id']))], [ended.id]);
    const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    assert.equal((times[7] ?? 0) - (times[0] ?? 0), delays.reduce((sum, delayMs) => sum + delayMs, 0) / SECOND_MS);
  });

  test('end with a success, a redirect is a failure, and abort-message ends them [X24] [X49]', async () => {
    const answers = [302, 200];
    receiver.answer = (response) => response.writeHead(answers.shift() ?? 500, { location: '/x' }).end();
    await happen(anEvent(7, 1));
    start();
    const failed = await tried(1);
    assert.deepEqual([failed.state, failed.lastStatus], ['PENDING', 302]);
    assert.equal((await find()).failingSince, world.clock.now());
    world.clock.set(world.clock.now() + 5 * SECOND_MS);
    assert.match(await describeServer(world.app, []), /_waiting\{state="retrying"\} 1\n[\s\S]*_oldest_seconds\{\} 5\n/);
    worker?.wake();
    assert.equal((await tried(2)).state, 'DELIVERED');
    assert.equal((await find()).failingSince, null);
    const metrics = await describeServer(world.app, []);
    assert.match(metrics, /_attempts_total\{result="delivered"\} 1\n.*_attempts_total\{result="failed"\} 1\n/);
    receiver.answer = (response) => response.writeHead(410, { 'webhook-delivery': 'abort-message' }).end();
    await happen(anEvent(7, 2));
    const aborted = await settled(({ state }) => state === 'FAILED');
    assert.deepEqual([aborted.attempts, aborted.lastStatus], [1, 410]);
  });

  test('leave neither address nor secret in the log, however they fail [X40]', async () => {
    const lines: string[] = [];
    const note = (facts: object, text: string) => void lines.push(`${text} ${inspect(facts, { depth: 9 })}`);
    const log = { ...world.app.log, debug: note, info: note, warn: note, error: note };
    Object.assign(world.app, { log });
    const answers: Answering[] = [
      (response) => response.writeHead(500).end('secret-of-the-answer'),
      (response) => response.writeHead(302, { location: 'https://secret-of-the-answer/' }).end(),
      (_response, _received, request) => request.socket.destroy(),
    ];
    receiver.answer = (...given) => answers[receiver.received.length % answers.length]?.(...given);
    await happen(...answers.map((_, index) => anEvent(index + 1, 1)));
    start();
    await until('all are tried', 10_000, async () => (await list()).every(({ attempts }) => attempts > 0) || undefined);
    assert.ok(lines.length >= 3, lines.join('\n'));
    for (const part of ['/hook', webhook.secret.slice(6), 'secret-of-the-answer']) {
      assert.ok(!lines.join('\n').includes(part), lines.join('\n'));
    }
  });

  test('keep the order of a pull request while the endpoint answers [X32]', async () => {
    receiver.answer = (response) => setTimeout(() => response.writeHead(200).end(), Math.random() * 4);
    const versions = Array.from({ length: 30 }, (_, index) => index + 1);
    await happen(...versions.flatMap((version) => [anEvent(1, version), anEvent(2, version)]));
    start();
    const bodies = (await receiver.take(60)).map(({ body }) => JSON.parse(body) as { readonly pr_number: number });
    const order = (await world.store.webhookDeliveries.list({ webhookId: webhook.id as WebhookId, limit: 99 }))
      .toReversed()
      .map(({ id }) => id);
    for (const prNumber of [1, 2]) {
      const got = receiver.received.filter((_, index) => bodies[index]?.pr_number === prNumber);
      const ids = got.map(({ headers }) => headers['webhook-id']);
      assert.deepEqual(
        ids,
        order.filter((id) => ids.includes(id)),
      );
    }
  });

  test('are made once by two servers, and survive the death of a server between commit and delivery [X20] [X23]', async () => {
    const makers = [createDeliveryMaker(world.app), createDeliveryMaker(world.app)];
    for (const maker of makers) maker.start();
    await world.store.feed.add([anEvent(7, 1), anEvent(8, 1)]);
    await world.app.feed.sequence();
    for (const maker of makers) maker.wake();
    await until('deliveries are made', 5_000, async () => ((await list()).length === 2 ? true : undefined));
    for (const maker of makers) await maker.stop();
    // Another server claimed them, sent one, and died before it stored that.
    const dead = { holder: 'dead', now: world.clock.now(), leaseUntil: world.clock.now() + 20_000, limit: 9 };
    assert.equal((await world.store.webhookDeliveries.claim(dead)).length, 2);
    start();
    await receiver.take(2);
    const [first, second] = await list();
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual(ids.toSorted(), [first?.id, second?.id].sort());
  });

  test('of an endpoint that only failed for five days end, and its webhook is disabled with an event [X26]', async () => {
    receiver.answer = (response) => response.writeHead(503).end();
    await happen(anEvent(7, 1));
    start();
    await tried(1);
    world.clock.set(world.clock.now() + 119 * HOUR_MS);
    worker?.wake();
    await tried(2);
    assert.equal((await find()).disabledAt, null);
    world.clock.set(world.clock.now() + HOUR_MS);
    worker?.wake();
    assert.equal((await tried(3)).state, 'FAILED');
    assert.equal((await find()).disabledAt, world.clock.now());
    const { events } = await world.ok<{ events: readonly { text: string }[] }>('/v1/listEvents', {
      types: ['webhook.disabled'],
    });
    assert.equal(events.length, 1);
    assert.match(events[0]?.text ?? '', /^The webhook "ci" is disabled: every delivery has failed since /);
    await happen(anEvent(7, 2));
    assert.equal((await list()).length, 1);
    await world.refused('409 WEBHOOK_DISABLED', '/v1/replayWebhook', { id: webhook.id, after: '2020-01-01T00:00:00Z' });
    await world.ok('/v1/updateWebhook', { id: webhook.id, enabled: true });
    receiver.answer = (response) => response.writeHead(200).end();
    await happen(anEvent(7, 3));
    await settled(({ state }) => state === 'DELIVERED');
  });

  test('wait in the feed while an endpoint is away, and all come once it answers [X21]', async () => {
    const events = Array.from({ length: 1_200 }, (_, index) => anEvent(index + 1, 1));
    await happen(...events);
    const untried = (await world.store.webhooks.countUntried()).get(webhook.id as WebhookId) ?? 0;
    assert.ok(untried > 0 && untried < 1_000, `${untried} deliveries were made`);
    assert.ok((await find()).cursor < 1_000);
    const maker = createDeliveryMaker(world.app);
    maker.start();
    start();
    const done = await until('all are sent', 60_000, async () => {
      maker.wake();
      return receiver.received.length === 1_200 ? receiver.received : undefined;
    });
    await maker.stop();
    assert.equal(new Set(done.map(({ headers }) => headers['webhook-id'])).size, 1_200);
  });

  test('reach no repository that the token of its maker did not, also on replay [X22]', async () => {
    const { token } = await world.ok<{ token: string }>('/v1/createApiToken', {
      ...{ name: 'limited', scopes: ['admin'], repositories: [world.scope.repo] },
    });
    const as = { 'x-api-token': token };
    const body = { name: 'l', url: 'https://example.com/x', format: 'STANDARD', types: ['queue.*', 'token.*'] };
    const made = JSON.parse((await world.post('/v1/createWebhook', body, as)).text) as { readonly id: string };
    const secretRepository = randomUUID();
    const at = { type: 'queue.held' };
    const { organizationId } = world.repository;
    await happen(anEvent(1, 1, at), anEvent(2, 1, { ...at, repositoryId: secretRepository, organizationId }));
    await happen(anEvent(3, 1, { type: 'token.created', repositoryId: null, organizationId }));
    assert.equal((await list(made.id)).length, 1);
    const replay = { id: made.id, after: '2000-01-01T00:00:00Z' };
    assert.equal((await world.post('/v1/replayWebhook', replay, as)).status, 200);
    while (await makeSome(world.app));
    assert.equal((await list(made.id)).length, 1);
    // The other one is of everything, so that the limited token may not touch it.
    for (const act of [
      'updateWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'testWebhook',
      'listWebhookDeliveries',
    ]) {
      assert.equal((await world.post(`/v1/${act}`, { id: webhook.id }, as)).status, 404, act);
    }
  });

  test('come again with the same id on replay of one, and of everything since an instant [X37]', async () => {
    start();
    await happen(anEvent(7, 1), anEvent(8, 1));
    await receiver.take(2);
    const sent = await until('both are delivered', 5_000, async () => {
      const all = await list();
      return all.every(({ state }) => state === 'DELIVERED') ? all : undefined;
    });
    const { id: deliveryId } = sent[0] as DeliveryView;
    await world.ok('/v1/replayWebhookDelivery', { id: webhook.id, deliveryId });
    assert.equal((await receiver.take(3))[2]?.headers['webhook-id'], deliveryId);
    await settled(({ id, state }) => id === deliveryId && state === 'DELIVERED');
    await world.ok('/v1/replayWebhook', { id: webhook.id, after: new Date(world.clock.now()).toISOString() });
    while (await makeSome(world.app));
    const ids = (await receiver.take(5)).slice(3).map(({ headers }) => headers['webhook-id']);
    assert.deepEqual(ids.toSorted(), sent.map(({ id }) => id).sort());
    const nothing = { id: webhook.id, deliveryId: `msg_${'0'.repeat(32)}` };
    await world.refused('404 WEBHOOK_DELIVERY_NOT_FOUND', '/v1/replayWebhookDelivery', nothing);
  });

  test('to an endpoint that hangs delay no other [X31]', async () => {
    const quick = await create({ url: `${receiver.url}/quick` });
    const hanging: ServerResponse[] = [];
    receiver.answer = (response, { path }) =>
      path === '/quick' ? response.writeHead(200).end() : hanging.push(response);
    await happen(...Array.from({ length: 40 }, (_, index) => anEvent(index + 1, 1)));
    start();
    await until('the others are delivered', 30_000, async () =>
      (await list(quick.id)).every(({ state }) => state === 'DELIVERED') ? true : undefined,
    );
    assert.equal(hanging.length, 16);
    receiver.answer = (response) => response.writeHead(200).end();
    for (const response of hanging) response.writeHead(200).end();
  });

  test('are removed 30 days after they were made, if they have ended [X39]', async () => {
    start();
    await happen(anEvent(7, 1));
    await settled(({ state }) => state === 'DELIVERED');
    world.clock.set(world.clock.now() + 30 * 24 * HOUR_MS);
    await tidy(world.app, 365 * 24 * HOUR_MS);
    assert.equal((await list()).length, 1);
    world.clock.set(world.clock.now() + 1);
    await tidy(world.app, 365 * 24 * HOUR_MS);
    assert.deepEqual(await list(), []);
  });

  test('of another key are left at once to the server that has it', async () => {
    const webhooks = world.app.webhooks as { box: App['webhooks']['box'] };
    const { box } = webhooks;
    let opened = 0;
    webhooks.box = {
      seal: (text) => text,
      open: () => {
        opened += 1;
        return undefined;
      },
    };
    await happen(anEvent(7, 1));
    start();
    await until('the server has looked', 5_000, async () => (opened > 0 ? true : undefined));
    const claim = { holder: 'other', now: world.clock.now(), leaseUntil: world.clock.now() + 1, limit: 9 };
    const [claimed] = await until('another server gets it', 5_000, async () => {
      const got = await world.store.webhookDeliveries.claim(claim);
      return got.length > 0 ? got : undefined;
    });
    assert.deepEqual([claimed?.attempts, receiver.received.length], [0, 0]);
    webhooks.box = box;
  });
});
