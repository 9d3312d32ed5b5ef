import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { QueueWorld } from '../../../test/worlds/shell/queue-world.ts';
import type { QueueId } from '../../storage/queues.ts';
import { raiseAlarm } from '../effects/effect-worker.ts';
import { getMergeQueueMetrics } from '../queue/get-merge-queue-metrics.ts';
import { listQueues } from '../queue/list-queues.ts';
import { listRecentAlarms, raise } from './alarms.ts';
import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { toForgeRepository } from './find-queue.ts';

const DAY_MS = 24 * 3_600_000;
const LIMIT = { timeout: 20_000 };

const world = madeForEach(() => QueueWorld.create());

async function raiseIn(world: QueueWorld, id: string, queueId = world.queueId, app = world.app): Promise<void> {
  const found = await app.queues.find(queueId);
  assert.ok(found);
  await raise(app, found, { id, code: 'RED_TARGET', text: id });
}

async function shown(app: App, ...queueIds: readonly QueueId[]): Promise<string[][]> {
  return (await listRecentAlarms(app, queueIds)).map((alarms) => alarms.map(({ text }) => text));
}

async function callerOf(world: QueueWorld): Promise<Caller> {
  const [repository] = await world.store.repositories.listAll();
  assert.ok(repository);
  const organization = { id: repository.organizationId, slug: 'acme', createdAt: 0 };
  return { organization, tokenId: 'token', name: 'ada', scopes: new Set(['read']), repositoryIds: null };
}

describe('alarms', LIMIT, () => {
  it('are kept and logged once, however often they are raised [N1]', async () => {
    for (let time = 0; time < 3; time += 1) await raiseIn(world, 'one');
    await raiseIn(world, 'one', world.queueId, world.createServer());
    assert.deepEqual(world.errors, ['one']);
    assert.equal((await world.alarms()).length, 1);
  });

  it('are raised once for each effect, whether the forge can describe the push or not [N1] [C6]', async () => {
    const found = await world.app.queues.find(world.queueId);
    const [repository] = await world.store.repositories.listAll();
    assert.ok(found && repository);
    const run = {
      app: world.app,
      found: { ...found, repository },
      forge: world.forge,
      checks: [],
      junit: [],
      checksBlocked: undefined,
      repository: toForgeRepository(repository),
    };
    const from = world.head;
    const to = world.repository.commit('main', { files: { x: 'x' }, message: 'Hotfix' });
    const effect = { kind: 'raise_alarm', code: 'FOREIGN_PUSH', text: 'Moved.', move: { from, to } } as const;
    world.forge.isBroken = true;
    for (let time = 0; time < 2; time += 1) await raiseAlarm(run, effect, 'q/1/0');
    world.forge.isBroken = false;
    for (let time = 0; time < 2; time += 1) await raiseAlarm(run, effect, 'q/2/0');
    const texts = (await world.alarms()).map(({ text }) => text);
    assert.equal(texts.length, 2);
    assert.equal(texts[0], 'Moved.');
    assert.match(texts[1] ?? '', /^Moved\. It was at .* 1 commit by Ada: "Hotfix"\.$/);
  });

  it('are shown for 7 days, the newest ten of each queue [N2]', async () => {
    const other = await world.addQueue('other');
    await raiseIn(world, 'old');
    world.laterMs += 6 * DAY_MS;
    await raiseIn(world, 'other', other);
    assert.deepEqual(await shown(world.app, world.queueId, other), [['old'], ['other']]);
    world.laterMs += 2 * DAY_MS;
    assert.deepEqual(await shown(world.app, world.queueId, other), [[], ['other']]);
    for (let count = 1; count <= 12; count += 1) await raiseIn(world, `new ${count}`);
    const [own = [], others] = await shown(world.app, world.queueId, other);
    assert.deepEqual([own.length, own[0], own[9]], [10, 'new 12', 'new 3']);
    assert.deepEqual(others, ['other']);
  });

  it('raised by another server show up soon, and cost nothing in between [N9]', async () => {
    let questions = 0;
    const list: App['store']['alarms']['list'] = (...args) => {
      questions += 1;
      return world.store.alarms.list(...args);
    };
    const store = { ...world.store, alarms: { ...world.store.alarms, list } };
    const app = { ...world.createServer(), store };
    const ids = [world.queueId, await world.addQueue('other')];
    for (let time = 0; time < 20; time += 1) await shown(app, ...ids);
    assert.equal(questions, 1);
    await raiseIn(world, 'one');
    world.laterMs += 2_000;
    assert.deepEqual(await shown(app, ...ids), [['one'], []]);
    assert.equal(questions, 2);
  });

  it('change the list of queues only when there are new ones [N9]', async () => {
    const caller = await callerOf(world);
    const list = () => listQueues(world.app, caller, {});
    const before = await list();
    world.laterMs += DAY_MS;
    assert.equal(await list(), before);
    await raiseIn(world, 'one');
    const after = await list();
    assert.ok('queues' in after);
    assert.deepEqual(
      after.queues.map(({ alarms }) => alarms.map(({ code, text }) => `${code} ${text}`)),
      [['RED_TARGET one']],
    );
  });

  it('are counted by queue and code, also where there was none, unless the client does not know them [N8] [M5]', async () => {
    const caller = await callerOf(world);
    for (const id of ['one', 'two']) await raiseIn(world, id);
    const text = await getMergeQueueMetrics(world.app, caller, { repo: undefined, hasAlarms: true });
    assert.ok(typeof text === 'string');
    assert.match(text, /^# TYPE mq_alarms_total counter$/m);
    assert.match(text, /^mq_alarms_total\{repo="[^"]+",branch="main",repo_host="forge.test",code="red_target"\} 2$/m);
    assert.match(text, /^mq_alarms_total\{.*code="foreign_push"\} 0$/m);
    const plain = await getMergeQueueMetrics(world.app, caller, { repo: undefined, hasAlarms: false });
    assert.ok(typeof plain === 'string' && !plain.includes('alarms'));
    assert.ok(text.startsWith(plain));
  });
});
