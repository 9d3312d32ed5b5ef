import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useServer } from './test-queue.ts';

interface Figures {
  readonly landed: number;
  readonly removed: number;
  readonly cancelled: number;
  readonly runs: number;
  readonly p50Seconds?: number;
}

interface Health {
  readonly buckets: readonly Figures[];
  readonly total: Figures;
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  readonly fewestRunsPerDecided?: number;
}

describe('getQueueHealth', () => {
  const world = useServer();

  it('counts landed, removed and cancelled pull requests, and their runs [M20]', async () => {
    const queue = await world.aQueue();
    const read = (days: number) => queue.api.ok<Health>('getQueueHealth', { ...queue.ref, days });
    const empty = await read(7);
    assert.deepEqual([empty.buckets.length, empty.total.landed, empty.fewestRunsPerDecided], [7, 0, undefined]);
    const [first = 0, second = 0, third = 0] = await queue.submitAll(3);
    await queue.ci.report(await queue.ci.runOf(first), 'SUCCESS');
    await queue.untilEntry(first, ({ state }) => state === 'MERGED');
    await queue.ci.report(await queue.ci.runOf(second), 'FAILURE');
    await queue.untilEntry(second, ({ state }) => state === 'FAILED');
    await queue.api.ok('cancelPullRequest', queue.entry(third));
    const week = await read(7);
    const { landed, removed, cancelled } = week.total;
    assert.deepEqual([landed, removed, cancelled], [1, 1, 1]);
    assert.ok(week.total.runs >= 2 && (week.total.p50Seconds ?? -1) >= 0, JSON.stringify(week.total));
    assert.equal(week.fewestRunsPerDecided, 1);
    assert.deepEqual(week.reasons, [{ reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', count: 1 }]);
    const day = await read(1);
    assert.equal(day.buckets.length, 24);
    assert.deepEqual(day.total, week.total);
    const sum = day.buckets.reduce((all, bucket) => all + bucket.landed + bucket.removed + bucket.cancelled, 0);
    assert.equal(sum, 3);
    assert.deepEqual(await read(1), day, 'a second look, from what is kept');
  });
});
