import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Client, problemOf } from '../../../test/e2e/harness.ts';
import { type TestQueue, useServer } from '../../../test/e2e/test-queue.ts';
import { digestOf, type FeedEvent } from '../../app/core/feed-event.ts';

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

  test('has what people do to queues, tokens and repositories', async () => {
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

  test('hides tokens from readers, and everything else from other organizations and limited tokens [X4]', async () => {
    const reader = await tokenFor({});
    assert.deepEqual(typesOf(await list({ types: ['token.*'] }, reader)), []);
    assert.ok((await list({ repo: queue.repo }, reader)).events.length > 0);
    const other = await world.aQueue();
    const limited = await tokenFor({ repositories: [other.repo] });
    const { events } = await list({ limit: 200 }, limited);
    assert.ok(events.length > 0);
    assert.ok(events.every(({ repo }) => repo?.name === other.repo.name));
    problemOf(await limited.post('listEvents', { repo: queue.repo }), '404 REPOSITORY_NOT_FOUND');
    const { token } = await world.server.api.ok<{ token: string }>('createOrganization', { slug: 'elsewhere' });
    assert.deepEqual((await list({}, world.server.api.withToken(token))).events, []);
    problemOf(await reader.post('listEvents', { audit: true }), '403 INSUFFICIENT_SCOPE');
  });

  test('refuses what is no type, no cursor, and a pull request without its repository', async () => {
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
      assert.equal(own, digestOf(record, digest), record.text);
      digest = own ?? null;
    }
    assert.ok(events.length >= 8);
  });
});
