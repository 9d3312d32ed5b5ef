import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PageWorld } from '../../../test/worlds/shell/page-world.ts';
import { toCaller } from '../forge-events/commands/who.ts';
import { getMergeQueueMetrics } from './get-merge-queue-metrics.ts';

describe('the metrics of hints', () => {
  it('count those that are due on the forges of the organization, with the age of the oldest [M4]', async () => {
    const world = await PageWorld.create();
    const repository = await world.repository();
    const caller = { ...(await toCaller(world.app, repository, { login: 'ada', isBot: false, isOwn: false })) };
    const lines = async (hasAlarms = true) => {
      const text = await getMergeQueueMetrics(world.app, caller, { repo: undefined, hasAlarms });
      assert.ok(typeof text === 'string');
      return text.split('\n').filter((line) => line.startsWith('mq_notices_'));
    };
    const { host } = repository;
    const now = world.now;
    const hint = (key: string, dueAt: number, at = host) => ({
      ...{ key, host: at, kind: 'unheard-of', body: '{}', receivedAt: now, dueAt },
    });
    const both = (count: number, seconds: number) => [
      `mq_notices_waiting{repo_host="${host}"} ${count}`,
      `mq_notices_oldest_due_seconds{repo_host="${host}"} ${seconds}`,
    ];
    assert.deepEqual(await lines(), both(0, 0));
    await world.store.hints.add([
      hint('a', now - 90_000),
      hint('b', now),
      hint('later', now + 60_000),
      hint('elsewhere', now - 500_000, 'other.test'),
    ]);
    assert.deepEqual(await lines(), both(2, 90));
    assert.deepEqual(await lines(false), []);
    await world.stop();
  });
});
