import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Client, problemOf } from '../../../test/e2e/harness.ts';
import { type TestQueue, useServer } from '../../../test/e2e/test-queue.ts';
import { EventListener, type Sent } from '../../../test/helpers/event-listener.ts';
import { storeObserved } from '../../../test/helpers/observed-test.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { NOON } from '../../../test/helpers/store-rows.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import type { FeedEvent } from '../../app/core/feed-event.ts';
import type { ResultView } from '../../app/queue/entry-result.ts';
import { chainDigest } from '../../lib/digest-chain.ts';

interface Page {
  readonly events: readonly (FeedEvent & { readonly digest?: string })[];
  readonly nextCursor?: string;
}

const typesOf = ({ events }: Page) => events.map(({ type }) => type);

describe('listEvents', () => {
  const world = useServer();
  let queue: TestQueue;
  let landed: number;
  let failed: number;
  before(async () => {
    queue = await world.aQueue();
    landed = await queue.submitOne();
    await queue.ci.pass(landed);
    await queue.untilEntry(landed, ({ state }) => state === 'MERGED');
    failed = await queue.submitOne();
    await queue.ci.fail(failed);
    await queue.untilEntry(failed, ({ state }) => state === 'FAILED');
  });

  const list = (body: object = {}, api: Client = world.server.api) => api.ok<Page>('listEvents', body);
  const tokenFor = async (of: object) =>
    world.server.api.withToken(
      (await world.server.api.ok<{ token: string }>('createApiToken', { name: 'reader', scopes: ['read'], ...of }))
        .token,
    );

  test('tells the life of a pull request with its reasons [X1]', async () => {
    const page = await list({ repo: queue.repo, prNumber: landed, order: 'ASC' });
    assert.deepEqual(typesOf(page), [
      'pull_request.submitted',
      'pull_request.queued',
      'pull_request.testing',
      'pull_request.merged',
      'landing.recorded',
    ]);
    const [submitted] = page.events;
    assert.deepEqual(submitted?.actor, { kind: 'token', name: 'admin' });
    assert.deepEqual(submitted?.repo, queue.repo);
    const merged = page.events.at(-2);
    assert.match(merged?.text ?? '', new RegExp(`^#${landed}: `));
    assert.equal(typeof merged?.candidateId, 'string');
    const proof = page.events.at(-1)?.data as {
      readonly sha: string;
      readonly testedSha: string;
      readonly kind: string;
    };
    assert.equal(proof.sha, proof.testedSha);
    const lost = await list({ repo: queue.repo, prNumber: failed, types: ['pull_request.failed'] });
    assert.deepEqual(lost.events[0]?.data['checks'], ['test']);
    const { outcome, mayRetry, next } = (lost.events[0] ?? assert.fail()).data['result'] as ResultView;
    assert.deepEqual([outcome, mayRetry?.when, typeof next], ['REMOVED', 'CHANGED', 'string']);
  });

  test('is newest first, by pages that together are everything, once [X3]', async () => {
    const all = await list({ limit: 200 });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.events.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(
      seen,
      all.events.map(({ id }) => id),
    );
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => Number(b) - Number(a)),
    );
  });

  test('is followed by the cursor: what happens later comes next, and once [X3]', async () => {
    const before = await list({ order: 'ASC', limit: 200 });
    const none = await list({ order: 'ASC', cursor: before.nextCursor });
    assert.deepEqual([none.events, none.nextCursor], [[], before.nextCursor]);
    await queue.update({ concurrency: 7 });
    const next = await list({ order: 'ASC', cursor: before.nextCursor });
    assert.deepEqual(typesOf(next), ['queue.settings_changed']);
    assert.deepEqual(next.events[0]?.data, { changes: { concurrency: { before: 5, after: 7 } } });
    assert.match(next.events[0]?.text ?? '', /^admin changed concurrency from 5 to 7 of the queue for main\.$/);
  });

  test('continues at its end for a cursor beyond it, as after a restore [X50]', async () => {
    const { events } = await list({ limit: 1 });
    const head = events[0]?.id;
    const beyond = await list({ order: 'ASC', cursor: '99999999' });
    assert.deepEqual(beyond, { events: [], nextCursor: head });
    await queue.update({ concurrency: 41 });
    assert.deepEqual(typesOf(await list({ order: 'ASC', cursor: head })), ['queue.settings_changed']);
  });

  test('has the acts of people on queues, tokens and repositories', async () => {
    await queue.update({ state: 'PAUSED', reason: 'release 4.2' });
    await queue.update({ state: 'RUNNING' });
    const page = await list({ repo: queue.repo, types: ['queue.*'] });
    assert.deepEqual(typesOf(page).slice(0, 2), ['queue.resumed', 'queue.paused']);
    assert.equal(page.events[1]?.text, 'admin paused the queue for main. Reason: release 4.2');
    assert.equal(page.events.at(-1)?.type, 'queue.created');
    const [registered] = (await list({ repo: queue.repo, types: ['repository.*'] })).events;
    assert.equal(registered?.text, `admin registered local/acme/${queue.repo.name}.`);
    await tokenFor({ name: 'visible' });
    const [created] = (await list({ types: ['token.created'] })).events;
    assert.equal(created?.text, 'admin created the token "visible" (read).');
    assert.equal(JSON.stringify(created).includes('slc_'), false);
  });

  test('hides the audit from readers and from limited tokens [X4]', async () => {
    const reader = await tokenFor({});
    problemOf(await reader.post('listEvents', { audit: true }), '403 INSUFFICIENT_SCOPE');
    const other = await world.aQueue();
    const narrow = await tokenFor({ scopes: ['admin'], repositories: [other.repo] });
    problemOf(await narrow.post('listEvents', { audit: true }), '403 INSUFFICIENT_SCOPE');
  });

  test('refuses an unknown type, a bad cursor, and a pull request without its repository', async () => {
    for (const [body, sentence] of [
      [{ types: ['pull_request.merge'] }, /Did you mean pull_request\.merged\?/],
      [{ types: ['nothing.*'] }, /is not a type of event/],
      [{ cursor: 'x' }, /must be the id of an event/],
      [{ prNumber: 7 }, /must be given with/],
      [{ limit: 201 }, /limit/],
    ] as const) {
      const problem = problemOf(await world.server.api.post('listEvents', body), '400 VALIDATION_FAILED');
      assert.match(JSON.stringify(problem), sentence);
    }
  });

  test('seals the records of the audit, so that a changed one is found [X6]', async () => {
    const { events } = await list({ audit: true, order: 'ASC', limit: 200 });
    let digest: string | null = null;
    for (const { digest: own, ...record } of events) {
      assert.equal(own, chainDigest(record, digest), record.text);
      digest = own ?? null;
    }
    assert.ok(events.length >= 8);
  });
});

describe('the stream of events', () => {
  const world = useServer();
  let queue: TestQueue;
  before(async () => {
    queue = await world.aQueue();
  });

  const open = async (query = '', { token = world.server.token, last = '' } = {}) => {
    const headers = { 'x-api-token': token, ...(last === '' ? {} : { 'last-event-id': last }) };
    return fetch(`${world.server.url}/v1/events${query}`, { headers });
  };
  const withIds = (sent: readonly Sent[]) => sent.filter(({ id }) => id !== undefined);

  test('sends what happens, and says which queue changed [X10]', async () => {
    const listener = new EventListener(await open());
    const prNumber = await queue.submitOne();
    await listener.until((sent) => sent.some(({ event }) => event === 'pull_request.testing'));
    await listener.until((sent) => sent.some(({ event }) => event === 'queue.view'));
    await listener.close();
    const types = withIds(listener.sent).map(({ event }) => event);
    assert.deepEqual(types, ['pull_request.submitted', 'pull_request.queued', 'pull_request.testing']);
    const [first] = withIds(listener.sent);
    const event = JSON.parse(first?.data ?? '') as FeedEvent;
    assert.deepEqual([event.id, event.prNumber, event.repo], [first?.id, prNumber, queue.repo]);
    const view = listener.sent.find((each) => each.event === 'queue.view');
    const told = JSON.parse(view?.data ?? '') as { readonly repo: object; readonly version: number };
    assert.deepEqual(told.repo, queue.repo);
    assert.ok(told.version > 1);
  });

  test('continues after the last id, with its filters, without a gap and without repetition [X10]', async () => {
    const filter = `?types=queue.*&repo=local/acme/${queue.repo.name}`;
    for (const concurrency of [6, 7, 8]) await queue.update({ concurrency });
    const all = new EventListener(await open(filter, { last: '0' }));
    await all.until((sent) => withIds(sent).length >= 4);
    const ids = withIds(all.sent).map(({ id }) => id as string);
    const rest = new EventListener(await open(filter, { last: ids[1] as string }));
    await queue.update({ concurrency: 9 });
    await rest.until((sent) => withIds(sent).length >= 3);
    await all.until((sent) => withIds(sent).length >= 5);
    await Promise.all([all.close(), rest.close()]);
    assert.deepEqual(
      pluck(withIds(rest.sent), 'id'),
      withIds(all.sent)
        .map(({ id }) => id)
        .slice(2),
    );
  });

  test('refuses a bad id, an unknown type and another repository', async () => {
    assert.equal((await open('', { last: '1 or 1' })).status, 400);
    assert.equal((await open('?types=pull_request.nothing')).status, 400);
    assert.equal((await open('?repo=local/acme/none')).status, 404);
    assert.equal((await open('?repo=none')).status, 400);
  });
});

describe('events of tests', () => {
  test('tell status, monitors, quarantine settings and uploads with the owners [X8]', async (t) => {
    const world = await createInProcess();
    t.after(() => world.close());
    const flaky = await storeObserved(world.store, world.repository, { at: NOON, runs: ['RETRIED'] });
    const body = { ...world.scope, test_id: flaky.id, setting: 'ALWAYS_QUARANTINE', reason: 'Blocks everybody.' };
    await world.ok('/v1/flaky-tests/set-quarantine', body);
    const { repo } = world.scope;
    const { events } = await world.ok<Page>('/v1/listEvents', { repo, testId: flaky.id, order: 'ASC' });
    const types = events.map(({ type }) => type.split('.')[1]);
    assert.deepEqual([...new Set(types)], ['monitor_status_changed', 'status_changed', 'quarantining_setting_changed']);
    assert.equal(events.at(-2)?.data['to'], 'FLAKY');
    assert.deepEqual(events.at(-1)?.actor, { kind: 'token', name: 'admin' });
    assert.match(
      events.at(-1)?.text ?? '',
      /^admin set the quarantine of ".+" from UNSPECIFIED to ALWAYS_QUARANTINE\. Blocks/,
    );
  });
});
