import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { madeOnce } from '../../../test/helpers/made.ts';
import { createDatabase } from '../../../test/helpers/postgres.ts';
import { NOON, storeOrganization } from '../../../test/helpers/store-rows.ts';
import type { OrganizationId } from '../accounts.ts';
import type { FeedDraft } from '../feed-draft.ts';
import type { WorkClaim } from '../leased-work.ts';
import { openPostgresStore } from '../postgres/open-postgres-store.ts';
import { createMemoryStore } from '../sqlite/create-memory-store.ts';
import type { Store } from '../store.ts';
import type { Delivery, NewDelivery, Webhook, WebhookId } from '../webhooks.ts';

const MINUTE_MS = 60_000;

function aWebhook(organizationId: OrganizationId, values: Partial<Webhook> = {}): Webhook {
  return {
    id: randomUUID() as WebhookId,
    organizationId,
    name: 'chat é',
    format: 'STANDARD',
    types: ['pull_request.*', 'queue.held'],
    repositoryIds: null,
    account: null,
    mayReachPrivate: false,
    url: 'v1.k.url',
    maskedUrl: 'https://example.com/…',
    secret: 'v1.k.secret',
    oldSecret: null,
    oldSecretUntil: null,
    cursor: 0,
    failingSince: null,
    disabledAt: null,
    createdBy: 'ada',
    createdAt: NOON,
    ...values,
  };
}

function aDelivery(seq: number, values: Partial<NewDelivery> = {}): NewDelivery {
  return { id: `msg_${randomUUID()}`, seq, type: 'queue.held', line: `${seq}`, prNumbers: null, ...values };
}

function anEvent(organizationId: OrganizationId): FeedDraft {
  const nowhere = { repositoryId: null, queueId: null, targetBranch: null, prNumber: null, testId: null };
  const named = { source: randomUUID(), version: 1, ordinal: 0, at: NOON, type: 'webhook.disabled' };
  return { ...named, ...nowhere, organizationId, body: '{}' };
}

const aClaim = (holder: string, values: Partial<WorkClaim> = {}): WorkClaim => {
  const now = values.now ?? NOON;
  return { holder, now, leaseUntil: now + MINUTE_MS, limit: 100, ...values };
};

const seqsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ seq }) => seq).sort((a, b) => a - b);

for (const [name, open] of [
  ['SQLite', async () => createMemoryStore()],
  ['PostgreSQL', async () => openPostgresStore({ url: await createDatabase() })],
] as const) {
  describe(`webhooks on ${name}`, () => webhookPromises(open));
}

function webhookPromises(open: () => Promise<Store>): void {
  const store = madeOnce(() => open());
  let organizationId: OrganizationId;
  before(async () => {
    organizationId = (await storeOrganization(store)).id;
  });

  /** A webhook with deliveries, and the only one. */
  const withDeliveries = async (deliveries: readonly NewDelivery[], values: Partial<Webhook> = {}) => {
    for (const { id } of await store.webhooks.list(organizationId)) await store.webhooks.remove(id, []);
    return another(deliveries, values);
  };
  const another = async (deliveries: readonly NewDelivery[], values: Partial<Webhook> = {}) => {
    const webhook = aWebhook(organizationId, values);
    await store.webhooks.insert(webhook, []);
    await store.webhooks.move([{ webhookId: webhook.id, from: 0, to: 99, deliveries }], NOON);
    return webhook;
  };
  const claim = (holder: string, values: Partial<WorkClaim> = {}) =>
    store.webhookDeliveries.claim(aClaim(holder, values));
  const eventCount = async () => {
    while ((await store.feed.sequence(() => null, 100)).length > 0);
    return (await store.feed.getHead(organizationId)).lastSeq;
  };

  test('are stored with all fields, listed, changed and removed, each with its event', async () => {
    const { id: other } = await storeOrganization(store);
    const webhook = aWebhook(other, { oldSecret: 'old', oldSecretUntil: NOON + 1 });
    await store.webhooks.insert(webhook, [anEvent(other)]);
    assert.deepEqual(await store.webhooks.list(other), [webhook]);
    assert.deepEqual(await store.webhooks.find(webhook.id), webhook);
    const change = { name: 'b', repositoryIds: [], disabledAt: NOON } as const;
    assert.equal(await store.webhooks.update(webhook.id, change, [anEvent(other)]), true);
    assert.deepEqual(await store.webhooks.find(webhook.id), { ...webhook, ...change });
    const enabled = await store.webhooks.listEnabled();
    assert.ok(!enabled.some(({ id }) => id === webhook.id));
    assert.equal(await store.webhooks.remove(webhook.id, [anEvent(other)]), true);
    assert.equal(await store.webhooks.remove(webhook.id, [anEvent(other)]), false);
    assert.equal(await store.webhooks.update(webhook.id, change, [anEvent(other)]), false);
    while ((await store.feed.sequence(() => null, 100)).length > 0);
    assert.equal((await store.feed.getHead(other)).lastSeq, 3);
  });

  test('many servers that make the same deliveries make each once [X21]', async () => {
    const webhook = await withDeliveries([]);
    const deliveries = [aDelivery(100), aDelivery(101, { prNumbers: [1, 2] })];
    const move = { webhookId: webhook.id, from: 99, to: 101, deliveries };
    await Promise.all(Array.from({ length: 6 }, () => store.webhooks.move([move], NOON)));
    await store.webhooks.move([{ ...move, to: 150, deliveries: [aDelivery(120)] }], NOON);
    assert.equal((await store.webhooks.find(webhook.id))?.cursor, 101);
    assert.deepEqual((await store.webhooks.countUntried()).get(webhook.id), 2);
    const listed = await store.webhookDeliveries.list({ webhookId: webhook.id, limit: 10 });
    const tried = { triedAt: null, lastStatus: null, lastError: null };
    const fresh = { webhookId: webhook.id, state: 'PENDING', attempts: 0, dueAt: NOON, createdAt: NOON, ...tried };
    assert.deepEqual(
      listed,
      deliveries.toReversed().map((each) => ({ ...each, ...fresh })),
    );
  });

  test('an endpoint has a share of claims, and a smaller one while it fails [X31]', async () => {
    const many = Array.from({ length: 40 }, (_, index) => aDelivery(index + 1));
    const slow = await withDeliveries(many);
    const failing = await another(
      many.map((each) => ({ ...each, id: `f${each.id}` })),
      { failingSince: NOON - 1 },
    );
    const other = await another([aDelivery(1), aDelivery(2)]);
    const claimed = await claim('a');
    const of = ({ id }: Webhook) => seqsOf(claimed.filter(({ webhookId }) => webhookId === id));
    assert.deepEqual(
      [of(slow), of(failing), of(other)],
      [Array.from({ length: 16 }, (_, index) => index + 1), [1, 2], [1, 2]],
    );
    // All shares are taken: the next one to wait for is the end of a lease.
    assert.deepEqual(await claim('b'), []);
    assert.equal(await store.webhookDeliveries.findNextDueAt(), NOON + MINUTE_MS);
    assert.equal((await claim('b', { now: NOON + MINUTE_MS })).length, 20);
  });

  test('first attempts of one line follow each other, also on two servers, and later ones do not [X32]', async () => {
    await withDeliveries([aDelivery(1, { line: 'a' }), aDelivery(2, { line: 'a' })]);
    const [claimed, others] = await Promise.all([claim('a'), claim('b')]);
    assert.deepEqual(seqsOf([...claimed, ...others]), [1]);
    const [holder, first] = claimed.some(({ seq }) => seq === 1)
      ? (['a', claimed[0]] as const)
      : (['b', others[0]] as const);
    const disable = { failingSince: 0, feed: [] };
    const failed = { kind: 'failed', at: NOON, status: 500, error: null, dueAt: NOON + 5, disable } as const;
    assert.equal(await store.webhookDeliveries.settle(first as Delivery, holder, failed), 'settled');
    assert.deepEqual(seqsOf(await claim('c')), [2]);
    assert.deepEqual(seqsOf(await claim('c', { now: NOON + 5 })), [1]);
  });

  test('a settlement needs the lease, counts attempts, and keeps the first failure until a success', async () => {
    const webhook = await withDeliveries([aDelivery(1)]);
    const [first] = await claim('a');
    assert.ok(first);
    assert.deepEqual(await store.webhookDeliveries.measure(), { untried: 1, retrying: 0, oldestAt: NOON });
    const disable = { failingSince: NOON - 5, feed: [anEvent(organizationId)] };
    const failed = { kind: 'failed', at: NOON + 1, status: null, error: 'TIMEOUT', dueAt: NOON + 9, disable } as const;
    assert.equal(await store.webhookDeliveries.settle(first, 'b', failed), 'lost');
    assert.equal(await store.webhookDeliveries.settle(first, 'a', failed), 'settled');
    assert.equal((await store.webhooks.find(webhook.id))?.failingSince, NOON + 1);
    assert.deepEqual(await store.webhookDeliveries.measure(), { untried: 0, retrying: 1, oldestAt: NOON });
    assert.equal(await store.webhookDeliveries.findNextDueAt(), NOON + 9);
    const [again] = await claim('a', { now: NOON + 9 });
    assert.deepEqual(again, { ...first, attempts: 1, dueAt: NOON + 9, triedAt: NOON + 1, lastError: 'TIMEOUT' });
    const postponed = { kind: 'postpone', dueAt: NOON + 10 } as const;
    await store.webhookDeliveries.settle(first, 'a', postponed);
    await claim('a', { now: NOON + 10 });
    const delivered = { kind: 'delivered', at: NOON + 11, status: 204, error: null } as const;
    assert.equal(await store.webhookDeliveries.settle(first, 'a', delivered), 'settled');
    assert.equal((await store.webhooks.find(webhook.id))?.failingSince, null);
    const [ended] = await store.webhookDeliveries.list({ webhookId: webhook.id, state: 'DELIVERED', limit: 1 });
    assert.deepEqual([ended?.attempts, ended?.lastStatus, ended?.lastError], [2, 204, null]);
    assert.deepEqual(await store.webhookDeliveries.list({ webhookId: webhook.id, state: 'PENDING', limit: 1 }), []);
    assert.deepEqual(await store.webhookDeliveries.measure(), { untried: 0, retrying: 0, oldestAt: null });
  });

  test('a webhook that only failed is disabled once, with its event, and its deliveries end [X33]', async () => {
    const events = await eventCount();
    const webhook = await withDeliveries([aDelivery(1), aDelivery(2), aDelivery(3)], { failingSince: NOON - 100 });
    const claimed = await claim('a');
    assert.equal(claimed.length, 2);
    const disable = { failingSince: NOON - 100, feed: [anEvent(organizationId)] };
    const failed = { kind: 'failed', at: NOON, status: 500, error: null, dueAt: NOON + 5, disable } as const;
    const settled = await Promise.all(claimed.map((each) => store.webhookDeliveries.settle(each, 'a', failed)));
    assert.deepEqual(settled.sort(), ['lost', 'settled']);
    assert.equal((await store.webhooks.find(webhook.id))?.disabledAt, NOON);
    assert.equal(await eventCount(), events + 1);
    assert.deepEqual(await claim('b', { now: NOON + MINUTE_MS * 2 }), []);
    assert.equal((await store.webhookDeliveries.list({ webhookId: webhook.id, state: 'FAILED', limit: 9 })).length, 3);
  });

  test('deliveries are listed by pages, replayed, and expire when they have ended', async () => {
    const same = [aDelivery(2, { id: 'msg_a' }), aDelivery(2, { id: 'msg_b' })];
    const webhook = await withDeliveries([aDelivery(1), ...same]);
    const page = (before?: Delivery) =>
      store.webhookDeliveries.list({ webhookId: webhook.id, limit: 1, ...(before === undefined ? {} : { before }) });
    const seen: string[] = [];
    for (let [last] = await page(); last !== undefined; [last] = await page(last)) seen.push(`${last.seq} ${last.id}`);
    assert.deepEqual([seen.length, ...seen.slice(0, 2)], [3, '2 msg_b', '2 msg_a']);
    const [first] = await claim('a');
    assert.ok(first);
    await store.webhookDeliveries.settle(first, 'a', { kind: 'dropped', at: NOON, status: null, error: 'X' });
    assert.equal(await store.webhookDeliveries.replay(randomUUID() as WebhookId, first.id, NOON + 1), false);
    assert.equal(await store.webhookDeliveries.replay(webhook.id, first.id, NOON + 1), true);
    const [again] = await claim('a', { now: NOON + 1 });
    assert.deepEqual([again?.id, again?.attempts], [first.id, 0]);
    await store.webhookDeliveries.settle(first, 'a', { kind: 'delivered', at: NOON, status: 200, error: null });
    assert.equal(await store.webhookDeliveries.expire(NOON + 1, 10), 1);
    assert.equal((await store.webhookDeliveries.list({ webhookId: webhook.id, limit: 9 })).length, 2);
  });
}
