import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { storeOrganization } from '../../../test/helpers/store-rows.ts';
import { createTestApp } from '../../../test/worlds/shell/create-app.ts';
import { ManualClock } from '../../../test/worlds/shell/manual-clock.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { actEvent, SLUICE } from '../core/feed-event.ts';
import { isRefusal } from '../core/refusal.ts';
import { streamEvents } from './stream-events.ts';

const LIFE_MS = 60_000;

async function openStream() {
  const store = await createMemoryStore();
  const organization = await storeOrganization(store);
  const clock = new ManualClock();
  const app = createTestApp({ store, clock, forges: new Map() });
  const expiresAt = clock.now() + LIFE_MS;
  const caller = { organization, tokenId: 't', name: 't', scopes: new Set(['read'] as const), repositoryIds: null };
  const isAdmitted = async () => clock.now() < expiresAt;
  const input = { lastId: undefined, isAdmitted };
  const stream = await streamEvents(app, { ...caller, expiresAt }, input);
  assert.ok(!isRefusal(stream));
  app.feed.start();
  const happen = async (count: number) => {
    const event = { type: 'queue.paused', actor: SLUICE, text: 'Paused.', data: {} };
    await store.feed.add(
      Array.from({ length: count }, () => actEvent(clock.now(), event, { organizationId: organization.id })),
    );
    app.feed.wake();
  };
  return { stream, clock, happen };
}

describe('a stream', () => {
  test('ends with its token, also while events keep coming [X11]', async () => {
    const { stream, clock, happen } = await openStream();
    const chunks: string[] = [];
    stream.on('data', (chunk) => chunks.push(String(chunk).slice(0, 4)));
    for (let at = 0; at < 3 * LIFE_MS; at += 5_000) {
      await happen(1);
      await clock.pass(5_000);
    }
    assert.ok(stream.readableEnded);
    assert.equal(chunks.filter((chunk) => chunk === 'id: ').length, LIFE_MS / 5_000);
  });

  test('is cut off when its reader is 1,000 events behind [X10]', async () => {
    const { stream, clock, happen } = await openStream();
    await happen(900);
    await clock.pass(1_000);
    assert.equal(stream.destroyed, false);
    await happen(200);
    await clock.pass(1_000);
    assert.ok(stream.destroyed);
  });
});
