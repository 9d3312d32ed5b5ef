import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPullRequest } from '../../../test/helpers/a-pull-request.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { storeQueue } from '../../../test/helpers/store-rows.ts';
import { NOON, settle } from '../../../test/worlds/shell/manual-clock.ts';
import { FIRST, WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { EntryId } from '../../engine/model/queue.ts';
import { Fault } from '../../lib/fault.ts';
import { encodeQueue } from '../core/queue-codec.ts';
import { QueueHost } from '../core/queue-host.ts';
import { StorePoller } from '../core/store-poller.ts';
import { createEffectWorker } from './effect-worker.ts';

const world = madeForEach(() => WorkerWorld.create());

/** Builds wait until the returned function is called. */
function holdBuilds(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.forge.gate = promise;
  return resolve;
}

describe('EffectWorker', () => {
  it('runs an effect once, and removes it in the commit that stores its answer [D1]', async () => {
    world.worker.start();
    await world.submit();
    await world.clock.pass(10);
    assert.equal(await world.stateOf(FIRST), 'testing');
    assert.deepEqual(await world.effects(), []);
    await world.clock.pass(180_000);
    assert.equal(world.forge.builds, 1);
  });

  it('waits for a commit that is stored and not shown yet, without counting that as a failure [D1] [D2]', async () => {
    world.worker.start();
    await world.clock.pass(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.answers = promise;
    const submitted = world.submit();
    await settle();
    world.worker.wake();
    await world.clock.pass(4);
    assert.deepEqual(
      (await world.effects()).map(({ kind, attempts, dueAt }) => ({ kind, attempts, dueAt })),
      [{ kind: 'build_candidate', attempts: 0, dueAt: NOON + 6 }],
    );
    assert.equal(world.forge.builds, 0);
    world.answers = undefined;
    resolve();
    await submitted;
    await world.clock.pass(10);
    assert.equal(await world.stateOf(FIRST), 'testing');
  });

  it('comes back to what has to wait, without counting that as a failure [C1]', async () => {
    const resolve = holdBuilds();
    world.worker.start();
    await world.submit();
    await world.submit();
    await world.clock.pass(1);
    assert.deepEqual(pluck(await world.effects(), 'attempts'), [0, 0]);
    resolve();
    await world.clock.pass(100);
    assert.equal(await world.stateOf(2 as CandidateNumber), 'testing');
  });

  it('ends an effect whose answer comes too late to be stored [I4]', async () => {
    const resolve = holdBuilds();
    world.worker.start();
    const prNumber = await world.submit();
    await world.clock.pass(1);
    await world.app.queues.run(world.queueId, () => ({
      kind: 'pull_request_cancelled',
      at: NOON,
      actor: 'ada',
      prNumber,
    }));
    resolve();
    await world.clock.pass(1);
    assert.deepEqual(await world.effects(), []);
    assert.equal(world.forge.builds, 1);
  });

  it('tries on what the forge does not answer, later each time, and never gives up [D1]', async () => {
    world.forge.isBroken = true;
    world.worker.start();
    await world.submit();
    await world.clock.pass(1);
    const [first] = await world.effects();
    assert.equal(first?.attempts, 1);
    assert.match(first?.lastError ?? '', /The forge is down/);
    assert.ok(first !== undefined && first.dueAt >= NOON + 250 && first.dueAt <= NOON + 500, `${first?.dueAt}`);
    await world.clock.pass(600_000);
    const [later] = await world.effects();
    assert.ok(later !== undefined && later.attempts > 8 && later.parkedAt === null);
    assert.ok(world.forge.builds < 40, 'it does not hammer');
    world.forge.isBroken = false;
    await world.clock.pass(60_000);
    assert.equal(await world.stateOf(FIRST), 'testing');
  });

  it('shows what fails by a bug and leaves it alone after five attempts [I1] [N1]', async () => {
    world.forge.bug = new TypeError('x is not a function\0');
    world.worker.start();
    await world.submit();
    await world.clock.pass(600_000);
    const [effect] = await world.effects();
    assert.equal(effect?.lastError, 'x is not a function');
    assert.notEqual(effect?.parkedAt, null);
    assert.equal(world.forge.builds, 5);
    const [alarm, ...more] = await world.store.alarms.list([world.queueId], 0, 10);
    assert.equal(alarm?.code, 'WORK_PARKED');
    assert.match(alarm.text, /build_candidate.*5 times.*x is not a function/);
    assert.deepEqual(more, []);
  });

  it('goes on at once with what a server that died was doing, where it is the only one [D4]', async () => {
    await world.submit();
    await world.store.effects.claim({ holder: 'dead', now: NOON, leaseUntil: NOON + 60_000, limit: 9 });
    world.worker.start();
    await world.clock.pass(1);
    assert.equal(world.forge.builds, 1);
  });

  it('does nothing twice at once where it did not come to renew its leases [I4]', async () => {
    const resolve = holdBuilds();
    const { renewLeases } = world.app.store.effects;
    const renew = async () => {
      throw new Fault('STORE_UNAVAILABLE', 'The store does not answer.');
    };
    Object.assign(world.app.store.effects, { renewLeases: renew });
    world.worker.start();
    await world.submit();
    await world.clock.pass(30_000);
    Object.assign(world.app.store.effects, { renewLeases });
    await world.clock.pass(30_000);
    assert.equal(world.forge.builds, 1);
    resolve();
    await world.clock.pass(1_000);
    assert.equal(await world.stateOf(FIRST), 'testing');
  });

  it('runs effects that another server stored, as soon as the store poller finds them [D40]', async () => {
    const storePoller = new StorePoller(world.app, { effects: () => world.worker.wake() });
    world.worker.start();
    storePoller.start();
    await world.clock.pass(300);
    const other = new QueueHost(world.store, world.clock);
    const found = await other.find(world.queueId);
    assert.ok(found);
    await world.app.store.effects.endLeases();
    const { id } = await storeQueue(world.store, {
      repositoryId: world.repositoryId,
      branch: 'next',
      body: encodeQueue({ ...found.queue, branch: 'next' }),
    });
    const { number, headSha } = world.repository.openPullRequest({ base: 'main', files: { z: '' } });
    await other.run(id, () => ({
      kind: 'pull_request_submitted',
      at: NOON,
      actor: 'ada',
      entryId: 'entry-z' as EntryId,
      pr: aPullRequest(number, { headSha, baseBranch: 'next' }),
      targets: undefined,
      priority: undefined,
      noBatch: undefined,
    }));
    assert.equal(world.forge.builds, 0);
    await world.clock.pass(1_500);
    assert.equal(world.forge.builds, 1);
    await storePoller.stop();
  });

  it('has eight under way at once and no more, and waits for them when it stops [H10]', async () => {
    const resolve = holdBuilds();
    world.worker.start();
    for (let index = 0; index < 12; index += 1) {
      const branch = `branch-${index}`;
      await world.submit(await world.addQueue(branch), branch);
    }
    await world.clock.pass(20_000);
    assert.equal(world.forge.builds, 8);
    let isStopped = false;
    const stopping = world.worker.stop().then(() => {
      isStopped = true;
    });
    await settle();
    assert.equal(isStopped, false);
    resolve();
    await stopping;
    await world.clock.pass(20_000);
    assert.equal(world.forge.builds, 8);
  });

  it('releases effects that it claimed while it was stopping [D2]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { effects } = world.app.store;
    const claim: typeof effects.claim = async (asked) => {
      const claimed = await world.store.effects.claim(asked);
      await promise;
      return claimed;
    };
    const app = { ...world.app, store: { ...world.app.store, effects: { ...effects, claim } } };
    const worker = createEffectWorker(app, 'this one');
    await world.submit();
    worker.start();
    await settle();
    const stopped = worker.stop();
    resolve();
    await stopped;
    assert.equal(world.forge.builds, 0);
    const now = world.clock.now();
    const next = { holder: 'another one', now, leaseUntil: now + 1_000, limit: 1 };
    assert.equal((await world.store.effects.claim(next)).length, 1);
  });
});
