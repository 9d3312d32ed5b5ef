import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOTHING_LEARNED } from '../../engine/model/learned.ts';
import { createQueue, type Queue } from '../../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import type { QueueSnapshot } from '../../storage/queues.ts';
import { decodeQueue, encodeQueue } from './queue-codec.ts';

function decode(body: object): Queue {
  const row = { id: 'q', repositoryId: 'r', branch: 'main', version: 1, createdAt: 0, body: JSON.stringify(body) };
  return decodeQueue({ queue: row, entries: [], candidates: [], targetSets: [] } as unknown as QueueSnapshot);
}

function stored(testingTimeoutMinutes: number | null) {
  const queue = createQueue('main', { ...DEFAULT_SETTINGS, testingTimeoutMinutes }, 'RUNNING');
  return JSON.parse(encodeQueue(queue)) as { settings: object; learned: object; isTimeoutSet?: true };
}

describe('the testing timeout in the row of a queue', () => {
  it('is unset where version 0.2.0 stored its default of 300 [S8]', () => {
    const { isTimeoutSet: _, ...older } = stored(300);
    assert.equal(decode(older).settings.testingTimeoutMinutes, null);
    assert.equal(decode({ ...older, settings: {} }).settings.testingTimeoutMinutes, null);
  });

  for (const minutes of [null, 0, 45, 300, 10_080]) {
    it(`comes back as ${minutes}, and servers of 0.2.0 read ${minutes ?? 300} [S8] [D3]`, () => {
      const row = stored(minutes);
      assert.equal(decode(row).settings.testingTimeoutMinutes, minutes);
      assert.deepEqual(row.settings, { ...DEFAULT_SETTINGS, testingTimeoutMinutes: minutes ?? 300 });
    });
  }

  it('follows no run where the row is older than the durations [V77]', () => {
    const row = stored(null);
    const { passSeconds: _, ...learned } = { ...NOTHING_LEARNED, flakes: { hits: 3, seen: 30 } };
    assert.deepEqual(decode({ ...row, learned }).learned, { ...learned, passSeconds: [] });
  });
});
