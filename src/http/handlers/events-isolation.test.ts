// The readers of each event, for every type that the contract has.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EventListener } from '../../../test/helpers/event-listener.ts';
import { aRepository } from '../../../test/helpers/store-rows.ts';
import { createInProcess, type InProcess } from '../../../test/worlds/server/in-process.ts';
import { deliveriesFor } from '../../app/webhooks/make-deliveries.ts';
import { EVENT_TYPES } from '../../contract/events.ts';
import { SCOPES } from '../../storage/accounts.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Webhook, WebhookId } from '../../storage/webhooks.ts';

/** An event is about the repository that limited tokens reach, about another one, or about the organization. */
const PLACES = ['own', 'other', 'organization'] as const;
type Place = (typeof PLACES)[number];

interface Reader {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly isLimited: boolean;
  readonly isStranger?: true;
}

const READERS: readonly Reader[] = [
  ...SCOPES.map((scope) => ({ name: `the scope ${scope}`, scopes: [scope], isLimited: false })),
  ...['read', 'admin'].map((scope) => ({ name: `a limited ${scope}`, scopes: [scope], isLimited: true })),
  { name: 'another organization', scopes: ['admin'], isLimited: false, isStranger: true },
];

/** The rule, told once more: by the types' names and without the product's own lists. */
function isVisible({ scopes, isLimited, isStranger }: Reader, type: string, place: Place): boolean {
  if (isStranger || (isLimited && place !== 'own')) return false;
  const isAdmin = scopes.includes('admin');
  return isAdmin || (scopes.includes('read') && !/^(?:organization|token|session|webhook)\./.test(type));
}

const expectedFor = (reader: Reader) =>
  EVENT_TYPES.flatMap((type) =>
    PLACES.flatMap((place) => (isVisible(reader, type, place) ? [`${type} ${place}`] : [])),
  ).sort();

describe('every type of event', () => {
  let world: InProcess;
  let url: string;
  let round = 0;
  const places: Partial<Record<Place, string>> = {};
  const tokens = new Map<string, { readonly id: string; readonly token: string }>();
  before(async () => {
    world = await createInProcess();
    url = await world.server.listen({ host: '127.0.0.1', port: 0 });
    const { organizationId } = world.repository;
    const other = await world.store.repositories.save(aRepository({ organizationId, host: 'local', name: 'other' }));
    Object.assign(places, { own: world.repository.id, other: other.id });
    for (const reader of READERS) tokens.set(reader.name, await tokenOf(reader));
    world.app.feed.start();
    await happen();
  });
  after(async () => {
    await world.app.feed.stop();
    await world.close();
  });

  const create = (body: object) => world.ok<{ id: string; token: string }>('/v1/createApiToken', body);
  const tokenOf = async ({ name, scopes, isLimited, isStranger }: Reader) => {
    if (isStranger) return world.ok<{ id: string; token: string }>('/v1/createOrganization', { slug: 'elsewhere' });
    return create({ name, scopes, ...(isLimited ? { repositories: [world.scope.repo] } : {}) });
  };
  /** One event of each type in each place. */
  const happen = async () => {
    round += 1;
    const drafts = EVENT_TYPES.flatMap((type) =>
      PLACES.map((place): FeedDraft => {
        const { organizationId } = world.repository;
        const nowhere = { queueId: null, targetBranch: null, prNumber: null, testId: null };
        const named = { source: `${type} ${place}`, version: round, ordinal: 0, at: world.clock.now() };
        const body = { actor: { kind: 'sluice', name: 'sluice' }, text: '', data: { place, round } };
        const at = { organizationId, repositoryId: places[place] ?? null };
        return { ...named, type, ...at, ...nowhere, body: JSON.stringify(body) };
      }),
    );
    await world.store.feed.add(drafts);
    await world.app.feed.sequence();
    world.app.feed.wake();
  };
  const describeEvent = (event: unknown) => {
    const { type, data } = event as { type: string; data: { place?: string; round?: number } };
    return data.place === undefined ? [] : [`${type} ${data.place}${data.round === 1 ? '' : ` ${data.round}`}`];
  };
  const tokenFor = (name: string) => tokens.get(name)?.token ?? assert.fail(name);
  const stream = async (token: string, last?: string) =>
    fetch(`${url}/v1/events`, {
      headers: { 'x-api-token': token, ...(last === undefined ? {} : { 'last-event-id': last }) },
    });
  const seenIn = (listener: EventListener) =>
    listener.sent.flatMap(({ id, data }) => (id === undefined ? [] : describeEvent(JSON.parse(data ?? '')))).sort();

  for (const reader of READERS) {
    const isRefused = !reader.scopes.some((scope) => scope === 'read' || scope === 'admin');
    test(`is ${isRefused ? 'refused to' : 'listed and streamed within the reach of'} ${reader.name} [X4] [X10]`, async () => {
      const headers = { 'x-api-token': tokenFor(reader.name) };
      const seen: string[] = [];
      for (let cursor = '0', isMore = true; isMore; ) {
        const answer = await world.post('/v1/listEvents', { order: 'ASC', cursor, limit: 200 }, headers);
        assert.equal(answer.status, isRefused ? 403 : 200, answer.text);
        const { events = [], nextCursor } = JSON.parse(answer.text) as { events?: object[]; nextCursor: string };
        seen.push(...events.flatMap(describeEvent));
        isMore = events.length === 200;
        cursor = nextCursor;
      }
      const expected = expectedFor(reader);
      assert.deepEqual(seen.sort(), expected);
      const response = await stream(tokenFor(reader.name), '0');
      assert.equal(response.status, isRefused ? 403 : 200);
      if (isRefused) return void (await response.body?.cancel());
      const listener = new EventListener(response);
      await listener.until(() => seenIn(listener).length >= expected.length && listener.sent.length > 0);
      assert.deepEqual(seenIn(listener), expected);
      await listener.close();
    });
  }

  test('reaches a webhook as it reaches the token of its maker [X22]', async () => {
    const { organizationId } = world.repository;
    const rows = await world.store.feed.list({ organizationId, repositoryIds: null, order: 'ASC', limit: 999 });
    const types = [...EVENT_TYPES];
    for (const reader of READERS.filter(({ scopes }) => scopes.includes('admin'))) {
      const body = { name: 'w', url: 'https://example.com/', format: 'STANDARD', types: ['queue.held'] };
      const made = await world.post('/v1/createWebhook', body, { 'x-api-token': tokenFor(reader.name) });
      const { id } = JSON.parse(made.text) as { id: string };
      const webhook = { ...((await world.store.webhooks.find(id as WebhookId)) as Webhook), types };
      const own = webhook.organizationId === organizationId ? rows : [];
      const seqs = new Set(deliveriesFor(webhook, own).map(({ seq }) => seq));
      const told = own
        .filter(({ seq }) => seqs.has(seq))
        .flatMap((row) => describeEvent({ ...row, data: JSON.parse(row.body).data }));
      assert.deepEqual(told.sort(), expectedFor(reader), reader.name);
    }
  });

  test('comes no more on an open stream once its token is revoked, or expired [X11]', async () => {
    const expiresAt = new Date(world.clock.now() + 3_600_000).toISOString();
    const revoked = await create({ name: 'revoked', scopes: ['admin'] });
    const expired = await create({ name: 'expired', scopes: ['admin'], expiresAt });
    const listeners: EventListener[] = [];
    for (const { token } of [revoked, expired]) listeners.push(new EventListener(await stream(token)));
    for (const listener of listeners) await listener.until((sent) => sent.length > 0);
    await world.ok('/v1/revokeApiToken', { id: revoked.id });
    world.clock.set(world.clock.now() + 3_600_000);
    await happen();
    for (const listener of listeners) {
      await listener.until(() => false);
      assert.deepEqual([listener.isEnded, seenIn(listener)], [true, []]);
    }
    for (const { token } of [revoked, expired]) assert.equal((await stream(token)).status, 401);
  });
});
