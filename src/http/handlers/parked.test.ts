import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { encodeQueue } from '../../app/core/queue-codec.ts';
import { createQueue } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import type { QueueId } from '../../storage/queues.ts';

describe('a queue that stopped itself', () => {
  it('reads PAUSED and says why, until it is set to RUNNING [I1] [I2]', async () => {
    const world = await createInProcess();
    const queue = createQueue('main', DEFAULT_SETTINGS, 'RUNNING');
    const at = world.clock.now();
    const body = encodeQueue({
      ...queue,
      parked: { reason: 'a promise was about to be broken', since: at, eventId: 7 },
    });
    const row = {
      id: 'q' as QueueId,
      repositoryId: world.repository.id,
      branch: 'main',
      version: 7,
      body,
      createdAt: at,
    };
    await world.store.queues.create(row, { version: 7, at, kind: 'queue_created', body: '{}' });
    const ref = { repo: world.scope.repo, targetBranch: 'main' };
    const parked = { reason: 'a promise was about to be broken', eventId: 7 };
    const shown = await world.ok<{ state: string; parked?: object }>('/v1/getQueue', ref);
    assert.deepEqual([shown.state, shown.parked], ['PAUSED', parked]);
    const { queues } = await world.ok<{ queues: { parked?: object }[] }>('/v1/listQueues', {});
    assert.deepEqual(queues[0]?.parked, parked);
    const old = await world.ok<{ state: string; parked?: object }>('/trunk/v1/getQueue', ref);
    assert.deepEqual([old.state, old.parked], ['paused', parked]);
    const resumed = await world.ok<{ state: string; parked?: object }>('/v1/updateQueue', { ...ref, state: 'RUNNING' });
    assert.deepEqual([resumed.state, resumed.parked], ['RUNNING', undefined]);
    await world.close();
  });
});
