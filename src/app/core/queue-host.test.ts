import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPullRequest } from '../../../test/helpers/a-pull-request.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { storeQueue } from '../../../test/helpers/store-rows.ts';
import type { QueueEvent } from '../../engine/model/event.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { createQueue, type EntryId, findEntry } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { QueueCommit } from '../../storage/queues.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { Store } from '../../storage/store.ts';
import { encodeQueue } from './queue-codec.ts';
import { QueueHost } from './queue-host.ts';

const NOON = Date.UTC(2026, 8, 17, 12);
const LIST = { kind: 'list', digest: 'd1', count: 2, targets: ['//a', '//b'] } as const;

function submitted(number: number): QueueEvent {
  return {
    kind: 'pull_request_submitted',
    at: NOON + number,
    actor: 'ada',
    entryId: `entry-${number}` as EntryId,
    pr: aPullRequest(number),
    targets: LIST,
    priority: undefined,
    noBatch: undefined,
  };
}

/** A store with a queue, and its host. */
async function begin(more: Partial<Store> = {}) {
  const store: Store = { ...createMemoryStore(), ...more };
  const body = encodeQueue(createQueue('main', DEFAULT_SETTINGS, 'RUNNING'));
  const { id } = await storeQueue(store, { branch: 'main', body });
  return { store, id, host: new QueueHost(store, systemClock) };
}

describe('QueueHost', () => {
  it('stores what arrives together in one commit, every event with a version of its own [D1]', async () => {
    const { store, id } = await begin();
    let commits = 0;
    const queues = {
      ...store.queues,
      commit: (each: QueueCommit) => {
        commits += 1;
        return store.queues.commit(each);
      },
    };
    const host = new QueueHost({ ...store, queues }, systemClock);
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
    await Promise.all(numbers.map((number) => host.run(id, () => submitted(number))));
    assert.equal(commits, 1);
    const events = await store.queueRecords.listEvents(id, 1, 1000);
    assert.deepEqual(
      pluck(events, 'version'),
      numbers.map((number) => number + 1),
    );
    assert.equal((await host.find(id))?.version, 101);
  });

  it('reads the same queue back from the store as it had in memory, targets included', async () => {
    const { store, id, host } = await begin();
    await host.run(id, () => submitted(1));
    await host.run(id, () => submitted(2));
    const result = await host.run(id, () => ({
      kind: 'pull_request_cancelled',
      at: NOON,
      actor: 'ada',
      prNumber: 1 as PrNumber,
    }));
    assert.deepEqual((await new QueueHost(store, systemClock).find(id))?.queue, result?.queue);
  });

  it('steps again on what another server stored first, and reads only what changed [D1]', async () => {
    const { store, id, host: one } = await begin({ isShared: true });
    const two = new QueueHost(store, systemClock);
    await one.run(id, () => submitted(1));
    await two.find(id);
    await one.run(id, () => submitted(2));
    const seen: number[] = [];
    const result = await two.run(id, (queue) => {
      seen.push(queue.entries.size);
      return submitted(3);
    });
    assert.deepEqual(seen, [1, 2]);
    assert.equal(result?.queue.entries.size, 3);
    assert.equal((await one.find(id))?.queue.entries.size, 3);
  });

  it('a bug in one event leaves the others alone', async () => {
    const { id, host } = await begin();
    const good = host.run(id, () => submitted(1));
    const bad = host.run(id, () => {
      throw new Error('a bug');
    });
    await assert.rejects(bad, /a bug/);
    assert.ok(findEntry((await good)?.queue as never, 1 as PrNumber));
  });

  it('shows nothing that was not stored, and goes on when the store does [D2]', async () => {
    const { store, id } = await begin();
    let isBroken = true;
    const commit: Store['queues']['commit'] = (each) =>
      isBroken ? Promise.reject(new Fault('STORE_UNAVAILABLE', 'The disk is full.')) : store.queues.commit(each);
    const host = new QueueHost({ ...store, queues: { ...store.queues, commit } }, systemClock);
    await assert.rejects(
      host.run(id, () => submitted(1)),
      /disk is full/,
    );
    assert.equal((await host.find(id))?.queue.entries.size, 0);
    isBroken = false;
    assert.equal((await host.run(id, () => submitted(1)))?.queue.entries.size, 1);
  });

  it('an event that the store refuses leaves the others alone', async () => {
    const { store, id } = await begin();
    const commit: Store['queues']['commit'] = (each) =>
      each.entries.some((entry) => entry.prNumber === 2)
        ? Promise.reject(new Error('a constraint'))
        : store.queues.commit(each);
    const host = new QueueHost({ ...store, queues: { ...store.queues, commit } }, systemClock);
    const results = await Promise.allSettled([1, 2, 3].map((number) => host.run(id, () => submitted(number))));
    assert.deepEqual(pluck(results, 'status'), ['fulfilled', 'rejected', 'fulfilled']);
    assert.equal((await host.find(id))?.queue.entries.size, 2);
  });

  it('lets no event through while the store is replaced, also when that happens twice at once [D5]', async () => {
    const { id, host } = await begin();
    const log: string[] = [];
    const replace = (name: string) =>
      host.withWritesPaused(async () => {
        log.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name} ends`);
      });
    const both = [replace('one'), replace('two')];
    const event = host.run(id, () => {
      log.push('event');
      return submitted(1);
    });
    await Promise.all([...both, event]);
    assert.deepEqual(log, ['one begins', 'one ends', 'two begins', 'two ends', 'event']);
  });

  it('a queue that is gone answers nothing', async () => {
    const { store, id, host } = await begin();
    await host.find(id);
    await store.queues.delete(id, 1, { at: NOON, by: 'ada' });
    assert.equal(await host.run(id, () => submitted(1)), undefined);
    assert.equal(await host.find(id), undefined);
  });
});
