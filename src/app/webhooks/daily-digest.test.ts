import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { madeOnce } from '../../../test/helpers/made.ts';
import { storeObserved } from '../../../test/helpers/observed-test.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aRepository, DAY_MS, NOON } from '../../../test/helpers/store-rows.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import type { Delivery, Webhook, WebhookId } from '../../storage/webhooks.ts';
import { createDigestRounds } from './daily-digest.ts';
import { makeSome } from './make-deliveries.ts';
import { renderBody } from './render-body.ts';

const HOUR_MS = 3_600_000;
/** Before the first digest, on which nothing is to be told. */
const START = NOON;
const SEVEN = Math.floor(NOON / DAY_MS) * DAY_MS + DAY_MS + 7 * HOUR_MS;
const END = new Date(SEVEN + 3 * HOUR_MS).toISOString().slice(0, 16).replace('T', ' ');

describe('the daily digest', () => {
  const world = madeOnce(() => createInProcess());
  const webhooks: Record<string, Webhook> = {};
  let version = 0;
  before(async () => {
    const other = await world.store.repositories.save(
      aRepository({ organizationId: world.repository.organizationId, host: 'local', name: 'other' }),
    );
    const app = { repositories: [world.scope.repo] };
    for (const [name, format, more] of [
      ['slack', 'SLACK', {}],
      ['teams', 'TEAMS', app],
      ['other', 'STANDARD', app],
    ] as const) {
      const wishes = { name, url: 'https://example.com/', format, types: ['digest.daily'], ...more };
      const { id } = await world.ok<{ id: string }>('/v1/createWebhook', wishes);
      webhooks[name] = (await world.store.webhooks.find(id as WebhookId)) as Webhook;
    }
    await becomes('net › retries', 'HEALTHY', 'FLAKY', ['@acme/net', '@acme/web']);
    await becomes('net › closes *early*', 'FLAKY', 'BROKEN', ['@acme/net']);
    await becomes('healed again', 'HEALTHY', 'FLAKY', []);
    await becomes('healed again', 'FLAKY', 'HEALTHY', []);
    await becomes('<elsewhere>', 'HEALTHY', 'BROKEN', [], other.id);
    const observed = await storeObserved(world.store, world.repository, { at: START, runs: ['SUCCESS'] });
    const expires_at = new Date(SEVEN + 3 * HOUR_MS).toISOString();
    await world.ok('/v1/flaky-tests/set-quarantine', {
      ...{ ...world.scope, test_id: observed.id, setting: 'ALWAYS_QUARANTINE', reason: 'Known.', expires_at },
    });
  });

  const becomes = (
    name: string,
    from: string,
    to: string,
    codeowners: readonly string[],
    repositoryId: string = world.repository.id,
  ) => {
    version += 1;
    const draft: FeedDraft = {
      ...{ source: 'tests', version, ordinal: 0, at: START + version, type: 'test_case.status_changed' },
      ...{ organizationId: null, repositoryId, queueId: null, targetBranch: null, prNumber: null },
      testId: `${name.length}`.padStart(36, '0'),
      body: JSON.stringify({ actor: {}, text: '', data: { name, codeowners, from, to } }),
    };
    return world.store.feed.add([draft]);
  };
  /** A round of two servers that have just started. */
  const makeAll = async (now: number) => {
    world.clock.set(now);
    await world.app.feed.sequence();
    const servers = [createDigestRounds(world.app), createDigestRounds(world.app)];
    for (const server of servers) {
      server.start();
      server.wake();
    }
    await Promise.all(servers.map((server) => server.stop()));
    await world.app.feed.sequence();
    while (await makeSome(world.app));
  };
  const deliveriesOf = (name: string) =>
    world.store.webhookDeliveries.list({ webhookId: webhooks[name]?.id as WebhookId, limit: 99 });
  const bodyOf = async (name: string) => {
    const [delivery] = (await deliveriesOf(name)) as [Delivery];
    const { organizationId } = world.repository;
    const query = { organizationId, repositoryIds: null, afterSeq: delivery.seq - 1, order: 'ASC', limit: 1 } as const;
    const [event] = await world.store.feed.list(query);
    assert.ok(event);
    return renderBody({ ...world.app, publicUrl: 'https://s.test' }, webhooks[name] as Webhook, { event, delivery });
  };

  test('is one message a day, on two servers and after a restart, and none about nothing [X47] [X48]', async () => {
    await makeAll(SEVEN - 1);
    assert.equal((await deliveriesOf('slack')).length, 0);
    await makeAll(SEVEN);
    await makeAll(SEVEN + DAY_MS - 1);
    assert.deepEqual(
      await Promise.all(Object.keys(webhooks).map(async (name) => (await deliveriesOf(name)).length)),
      [1, 1, 1],
    );
    await makeAll(SEVEN + DAY_MS);
    assert.equal((await deliveriesOf('slack')).length, 1);
  });

  test('tells each code owner of new flaky and broken tests and of quarantines that end [X47]', async () => {
    const { blocks, text } = (await bodyOf('slack')) as { blocks: { text: { text: string } }[]; text: string };
    const sentence = '1 test became flaky, 2 tests became broken, and the quarantine of 1 test ends within a day.';
    const nextStep = 'Repair them, or decide about their quarantine: sluice tests list.';
    assert.equal(text, `2 repositories ${sentence} ${nextStep}`);
    const shown = blocks.map((block) => block.text.text.replaceAll(/<https:[^|]*\|(.*?)>/g, '$1'));
    assert.deepEqual(shown, [
      `*2 repositories* ${sentence}\n_${nextStep}_`,
      `*@acme/math in acme/app*\n• Quarantine ends ${END} UTC: adds numbers`,
      '*@acme/net in acme/app*\n• Broken: net › closes *early*\n• Flaky: net › retries',
      '*@acme/web in acme/app*\n• Flaky: net › retries',
      '*Without a code owner in acme/other*\n• Broken: &lt;elsewhere&gt;',
    ]);
    assert.match(blocks[2]?.text.text ?? '', /<https:\/\/s\.test\/acme\/flaky-tests\/test\/[^|]+\|Broken: net/);
  });

  test('tells a webhook only of its own repositories [X22]', async () => {
    const teams = JSON.stringify(await bodyOf('teams'));
    assert.match(teams, /"text":"acme\/app"/);
    assert.match(teams, /\[Broken: net › closes \\\\\*early\\\\\*\]\(https:/);
    assert.doesNotMatch(teams, /elsewhere/);
    const standard = (await bodyOf('other')) as { type: string; data: { owners: readonly { owner: string }[] } };
    assert.equal(standard.type, 'digest.daily');
    assert.deepEqual(pluck(standard.data.owners, 'owner'), ['@acme/math', '@acme/net', '@acme/web']);
  });
});
