import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { settle } from '../../../test/worlds/shell/manual-clock.ts';
import { PastWorld } from '../../../test/worlds/shell/past-world.ts';
import { Fault } from '../../lib/fault.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { Caller } from '../core/caller.ts';
import { endOutages, Outages, recordOutages } from '../core/outages.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { createPacking } from '../upkeep/housekeeping.ts';
import { listQueueMoments } from './past.ts';
import { getQueue } from './queues.ts';

const MINUTE_MS = 60_000;

describe('the past of a queue', () => {
  const store = createMemoryStore();
  let world: PastWorld;

  before(async () => {
    world = await PastWorld.create(store);
  });
  after(() => store.close());

  const read = async (at: number, caller: Caller = world.caller, changes: object = {}) =>
    getQueue(world.app, caller, { ...(await world.ref()), includeExplanation: false, at, ...changes });

  /** The version and state of an answer, or the refusal. */
  const seen = async (...args: Parameters<typeof read>) => {
    const answer = await read(...args);
    return isRefusal(answer) ? answer : { state: answer.state, ...(answer as { asOf?: { version: number } }).asOf };
  };

  const refused = async (...args: Parameters<typeof read>): Promise<Refusal> => {
    const answer = await read(...args);
    assert.ok(isRefusal(answer));
    return answer;
  };

  const setState = async (state: 'RUNNING' | 'PAUSED', at = world.now) =>
    world.tell({ kind: 'queue_updated', at, actor: 'ada', settings: {}, state });

  it('orders by version where the clocks of servers differ, and defines every instant between [Y3]', async () => {
    const began = world.now;
    world.pass(10 * MINUTE_MS);
    await setState('PAUSED', world.now);
    const { version } = (await store.queues.load(world.queueId))?.queue ?? { version: 0 };
    // The clock of the other server is a minute behind.
    await setState('RUNNING', world.now - MINUTE_MS);
    await setState('PAUSED', world.now + MINUTE_MS);
    world.pass(2 * MINUTE_MS);
    assert.partialDeepStrictEqual(await seen(began + 9.5 * MINUTE_MS), { state: 'RUNNING', version: version - 1 });
    assert.partialDeepStrictEqual(await seen(began + 10 * MINUTE_MS), { state: 'RUNNING', version: version + 1 });
    assert.partialDeepStrictEqual(await seen(began + 10.5 * MINUTE_MS), { state: 'RUNNING', version: version + 1 });
    assert.partialDeepStrictEqual(await seen(began + 11 * MINUTE_MS), { state: 'PAUSED', version: version + 2 });
  });

  it('keeps the outages of other servers when one starts, unless it was taken away long ago [Y4]', async () => {
    const recordOf = (serverId: string) => new Outages(recordOutages({ store, log: silentLog, serverId }));
    const [one, other] = [recordOf('one'), recordOf('other')];
    const down = new Fault('FORGE_UNAVAILABLE', 'down');
    one.begin('a', down, world.now);
    other.begin('a', down, world.now);
    await settle();
    const held = async () => (await store.past.listFacts(['a'], world.now)).map(({ key }) => key);
    world.pass(MINUTE_MS);
    assert.deepEqual(await held(), ['outage one', 'outage other']);
    await endOutages(store, 'one', world.now);
    assert.deepEqual(await held(), ['outage other']);
    await endOutages(store, 'one', world.now + 8 * 24 * 60 * MINUTE_MS);
    assert.deepEqual(await store.past.listFacts(['a'], world.now + 9 * 24 * 60 * MINUTE_MS), []);
  });

  it('refuses the future, and instants at which there was no queue, and says when there was one [Y6]', async () => {
    assert.match((await refused(world.now + 1)).detail, /must not be in the future: it is 2026/);
    const early = await refused(Date.UTC(2000, 0, 1));
    assert.equal(early.code, 'QUEUE_NOT_FOUND');
    assert.match(early.detail, /There was no queue for branch "main" .* at 2000-01-01.*from 2023-11-14.* to now\./);
  });

  it("follows today's rights and name, and finds a deleted queue for the time in which it stood [Y5]", async () => {
    const { repo } = await world.ref();
    const then = world.now;
    const others = new Set(['another repository']);
    assert.equal((await refused(then, { ...world.caller, repositoryIds: others })).code, 'REPOSITORY_NOT_FOUND');
    const foreign = { ...world.caller.organization, id: 'other' as OrganizationId };
    assert.equal((await refused(then, { ...world.caller, organization: foreign })).code, 'REPOSITORY_NOT_FOUND');
    world.pass(MINUTE_MS);
    await world.rename();
    assert.equal((await refused(then, world.caller, { repo })).code, 'REPOSITORY_NOT_FOUND');
    assert.partialDeepStrictEqual(await seen(then), { state: 'PAUSED' });
    const { version } = (await store.queues.load(world.queueId))?.queue ?? { version: 0 };
    world.pass(MINUTE_MS);
    await store.queues.delete(world.queueId, version, { at: world.now, by: 'ada' });
    world.app.queues.forget(world.queueId);
    world.app.directory.forget();
    assert.partialDeepStrictEqual(await seen(then), { state: 'PAUSED', version });
    world.pass(MINUTE_MS);
    assert.match((await refused(world.now)).detail, /There was one from .* to 2026-09-17T12:15/);
  });
});

describe('the kept past', () => {
  it('is packed, expires with events, and lists its moments in pages [Y1] [Y7] [Y9] [Y10]', async (t) => {
    const store = createMemoryStore();
    t.after(() => store.close());
    const world = await PastWorld.create(store);
    const ref = await world.ref();
    const times: number[] = [];
    for (let turn = 0; turn < 400; turn += 1) {
      world.pass(MINUTE_MS);
      await world.setState(turn % 2 === 0 ? 'PAUSED' : 'RUNNING');
      times.push(world.now);
    }
    const packing = createPacking(world.app);
    assert.deepEqual(await store.past.listUnpacked(256 * 1024, 0), [world.queueId]);
    await world.app.feed.sequence();
    packing.start();
    while ((await store.past.listUnpacked(256 * 1024, 0)).length > 0) await settle();
    await packing.stop();
    const list = (more: object) =>
      listQueueMoments(world.app, world.caller, {
        ...{ ...ref, after: times[0] ?? 0, limit: 150 },
        ...more,
      });
    const found: string[] = [];
    for (let cursor: number | undefined; ; ) {
      const page = await list({ cursor });
      assert.ok(!isRefusal(page));
      found.push(...page.moments.map(({ at }) => at));
      if (page.nextCursor === undefined) break;
      cursor = Number(page.nextCursor);
    }
    assert.deepEqual(
      found,
      times.map((at) => new Date(at).toISOString()),
    );
    const between = await list({ after: times[10], before: times[12] });
    assert.ok(!isRefusal(between));
    assert.equal(between.moments.length, 3);
    const wrong = await list({ after: times[12], before: times[10] });
    assert.ok(isRefusal(wrong));
    const [, , third = 0, fourth = 0] = times;
    await store.past.expire(fourth, 1_000);
    const gone = await getQueue(world.app, world.caller, { ...ref, includeExplanation: false, at: third });
    assert.ok(isRefusal(gone));
    assert.equal(gone.code, 'PAST_NOT_KEPT');
    assert.match(gone.detail, new RegExp(`kept since ${new Date(fourth).toISOString()}`));
    const kept = await getQueue(world.app, world.caller, { ...ref, includeExplanation: false, at: fourth });
    assert.partialDeepStrictEqual(kept, { state: 'RUNNING' });
  });
});
