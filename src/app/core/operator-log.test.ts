import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { QueueWorld } from '../../../test/worlds/shell/queue-world.ts';
import { createQueue, deleteQueue } from '../queue/queues.ts';
import type { App } from './app.ts';
import { describeStep, keepOperatorLog } from './operator-log.ts';

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
    const told = lines.filter(({ facts }) => facts['act'] === 'landed' || facts['act'] === 'removed');
    const sha = world.head.slice(0, 12);
    assert.deepEqual(
      told.map(({ text }) => text.replace(/(?<=\.) .*$/, '')),
      [
        `#${first} landed on main of ${name} as ${sha}.`,
        `#${second} was removed from the queue for main of ${name} (CANCELLED).`,
      ],
    );
    const { act, repository, branch, pullRequest, sha: landed, title } = told[0]?.facts ?? {};
    assert.deepEqual(
      { act, repository, branch, pullRequest, landed, title },
      { act: 'landed', repository: name, branch: 'main', pullRequest: first, landed: world.head, title: 'A change' },
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
    assert.deepEqual(
      lines.map(({ text }) => text),
      [
        `ada paused the queue for main of ${name}. Reason: Release day.`,
        `ada changed concurrency from 5 to 7, batch from false to true in the queue for main of ${name}.`,
        `ada resumed the queue for main of ${name}.`,
      ],
    );
    assert.deepEqual(lines[1]?.facts['changes'], {
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
    assert.deepEqual(
      lines.map(({ text }) => text),
      [`ada created the queue for release of ${name}.`, `ada deleted the queue for release of ${name}.`],
    );
  });

  it('tells of the beginning and the end of a hold, and of a pull request that came back [N20]', async (context) => {
    const { world } = await createWorld(context);
    const after = await world.queue();
    const place = { repository: 'local/acme/app', branch: 'main' };
    const cause = { kind: 'checks', names: ['test'] } as const;
    const hold = { since: 1_000, cause, candidate: undefined, submissions: 0, retests: 0, nextRetestAt: 0 };
    const step = { event: { kind: 'time_passed', at: 61_000 } as const, transitions: [], ended: [] };
    const held = { ...after, hold };
    const row = { ...ROW, from: 'FAILED', to: 'PENDING' };
    const steps = [
      { ...step, before: after, after: held },
      { ...step, before: held, after },
      { ...step, before: after, after, transitions: [row] },
    ];
    const texts = steps.flatMap((each) => describeStep(each, place)).map(({ text }) => text);
    assert.deepEqual(texts, [
      'The queue for main of local/acme/app holds: main fails test without any pull request.',
      'The queue for main of local/acme/app works again. It held for 60 s.',
      '#7 is back in the queue for main of local/acme/app. main was broken.',
    ]);
  });
});

const ROW = {
  queueId: 'q' as never,
  entryId: 'e',
  prNumber: 7,
  version: 2,
  ordinal: 0,
  at: 0,
  isBisection: false,
  durationMs: null,
  inQueueMs: null,
  body: JSON.stringify({ reason: 'TARGET_BRANCH_AT_FAULT', text: 'main was broken.' }),
};
