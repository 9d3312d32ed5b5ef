import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { QueueWorld } from '../../../test/worlds/shell/queue-world.ts';
import type { FeedDraft } from '../../storage/feed-draft.ts';
import { createQueue, deleteQueue } from '../queue/queues.ts';
import type { App } from './app.ts';
import { isNotable, keepOperatorLog } from './operator-log.ts';

interface Line {
  readonly facts: Record<string, unknown>;
  readonly text: string;
}

const LIMIT = { timeout: 20_000 };

/** Two servers on one store, both of which log into the same list. */
async function createWorld(context: TestContext) {
  const world = await QueueWorld.create();
  context.after(() => world.stop());
  const lines: Line[] = [];
  const log = { ...silentLog, info: (facts: object, text: string) => void lines.push({ facts: { ...facts }, text }) };
  Object.assign(world.app, { log });
  const other = world.createServer({ log });
  for (const app of [world.app, other]) keepOperatorLog(app);
  const [repository] = await world.store.repositories.listAll();
  assert.ok(repository);
  return { world, other, lines, repository, name: `${repository.host}/${repository.owner}/${repository.name}` };
}

function callerIn(organizationId: string) {
  const organization = { id: organizationId, slug: 'acme', createdAt: 0 } as never;
  return { organization, tokenId: 'token', name: 'ada', scopes: new Set(['admin'] as const), repositoryIds: null };
}

async function update(app: App, world: QueueWorld, change: object): Promise<void> {
  const event = { kind: 'queue_updated', at: world.clock.now(), actor: 'ada', settings: {}, state: undefined } as const;
  await app.queues.run(world.queueId, () => ({ ...event, ...change }));
}

describe("the operator's log", LIMIT, () => {
  it('names each landing and removal once, though two servers share the store [N20]', async (context) => {
    const { world, other, lines, name } = await createWorld(context);
    const first = await world.land({ a: 'a' });
    await update(other, world, { state: 'PAUSED' });
    const second = await world.submit({ b: 'b' });
    await world.cancel(second);
    await world.untilQuiet();
    const told = lines.filter(({ facts }) => /^pull_request\.(?:merged|canceled)$/.test(String(facts['event'])));
    const sha = world.head.slice(0, 12);
    assert.equal(told.length, 2);
    assert.match(told[0]?.text ?? '', new RegExp(`^${name} #${first}: Landed on main. Its commit ${sha} is exactly`));
    assert.match(told[1]?.text ?? '', new RegExp(`^${name} #${second}: .*ada`));
    const { repository, branch, pullRequest, sha: landed, title } = told[0]?.facts ?? {};
    assert.deepEqual(
      { repository, branch, pullRequest, landed, title },
      { repository: name, branch: 'main', pullRequest: first, landed: world.head, title: 'A change' },
    );
    assert.equal(told[1]?.facts['actor'], 'ada');
    assert.equal(told[1]?.facts['reason'], 'USER_REQUESTED');
  });

  it('names who changed the state and the settings of a queue, from what to what [N21]', async (context) => {
    const { world, lines, name } = await createWorld(context);
    await update(world.app, world, { state: 'PAUSED', reason: 'Release day.' });
    await update(world.app, world, { state: 'RUNNING', settings: { concurrency: 7, batch: true } });
    await update(world.app, world, { settings: { concurrency: 7 } });
    await world.untilQuiet();
    assert.deepEqual(pluck(lines, 'text'), [
      `${name}: ada paused the queue for main. Reason: Release day.`,
      `${name}: ada resumed the queue for main.`,
      `${name}: ada changed concurrency from 5 to 7, batch from false to true of the queue for main.`,
    ]);
    assert.deepEqual(lines[2]?.facts['changes'], {
      concurrency: { before: 5, after: 7 },
      batch: { before: false, after: true },
    });
  });

  it('names who created and deleted a queue [N21]', async (context) => {
    const { world, lines, name, repository } = await createWorld(context);
    world.repository.commit('release', { files: { a: 'a' } });
    const { host, owner, name: repo, organizationId } = repository;
    const input = { repo: { host, owner, name: repo }, targetBranch: 'release' };
    await createQueue(world.app, callerIn(organizationId), { ...input, settings: {}, state: undefined });
    await deleteQueue(world.app, callerIn(organizationId), input);
    assert.deepEqual(pluck(lines, 'text'), [
      `${name}: ada created the queue for release.`,
      `${name}: ada deleted the queue for release.`,
    ]);
  });

  it('tells of holds and of pull requests that came back, and of nothing else [N20]', () => {
    const told = (type: string, prNumber: number | null, data: object = {}): FeedDraft => ({
      ...{ source: 's', version: 1, ordinal: 0, at: 0, type, organizationId: null, queueId: null, testId: null },
      ...{ repositoryId: 'r', targetBranch: 'main', prNumber },
      body: JSON.stringify({ actor: { kind: 'sluice', name: 'sluice' }, text: `${type}.`, data }),
    });
    const returned = { reason: 'TARGET_BRANCH_AT_FAULT' };
    const drafts = [
      ...[told('queue.held', null), told('queue.released', null), told('pull_request.testing', 7)],
      ...[told('pull_request.queued', 7), told('pull_request.queued', 8, returned), told('landing.recorded', 7)],
    ];
    const texts = drafts.filter(isNotable).map(({ type, prNumber }) => `${type} ${prNumber}`);
    assert.deepEqual(texts, ['queue.held null', 'queue.released null', 'pull_request.queued 8']);
  });
});
