import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localSimulator } from '../../../test/helpers/local-simulator.ts';
import { Past } from '../../../test/helpers/past-queue.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { adviseQueue } from '../../contract/queues.ts';
import { DEFAULT_SETTINGS } from '../../engine/settings.ts';
import { HOUR_MS, PLAIN_CHANGE } from '../../policy/workload.ts';
import { adviseOn } from './advise-queue.ts';

type Advice = ReplyOf<typeof adviseQueue>;

/** Pull requests come in sixes, and every seventh fails. CI takes ten minutes, one run at a time. */
async function live(past: Past, count: number): Promise<void> {
  let finished = 0;
  for (let number = 1; number <= count; number += 1) {
    await past.submit(finished * 10, number);
    if (number % 6 !== 0 && number !== count) continue;
    while (finished < number) {
      finished += 1;
      await past.finish(finished * 10, finished % 7 === 0 ? 'FAILURE' : 'SUCCESS');
    }
  }
}

async function createWorld() {
  const world = await createQueueInProcess();
  const { app, store, repository, clock, ref, ok } = world;
  await ok('/v1/updateQueue', { ...ref, concurrency: 1 });
  const queue = await store.queues.find(repository.id, 'main');
  assert.ok(queue);
  return { ...world, past: new Past(app.queues, queue.id, clock.now() - 20 * HOUR_MS) };
}

describe('advice on the settings of a queue', () => {
  it('replays its own history with the present settings and with ADAPTIVE [K26] [K28]', async () => {
    const { past, ok, ref } = await createWorld();
    await live(past, 42);
    const advice = await ok<Advice>('/v1/adviseQueue', ref);
    assert.equal(advice.decided, 42);
    assert.deepEqual(
      advice.replays.map(({ runCost }) => runCost),
      [undefined, 0.25, 1, 2, 4, 16],
    );
    const [present, ...adaptive] = advice.replays;
    assert.equal(present?.runsPerDecided, 1, 'one run each, as it was');
    assert.ok(adaptive.every(({ runsPerDecided }) => runsPerDecided < 1));
    assert.match(
      advice.text,
      /^ADAPTIVE with runCost \S+ \(\w+\) needs 0\.\d+ CI runs per pull request instead of 1\.00/,
    );
    assert.deepEqual(await ok('/trunk/v1/adviseQueue', ref), advice);
  });

  it('replays the later half of a history that takes too many steps [K28]', async () => {
    const changes = Array.from({ length: 121 }, (_, index) => ({
      ...{ ...PLAIN_CHANGE, number: index + 1, submittedAt: index, durationMs: 1000, isBroken: index < 61 },
    }));
    const { decided, replays } = await adviseOn(localSimulator, changes, DEFAULT_SETTINGS, 400);
    assert.deepEqual([decided, replays.length, replays[0]?.runsPerDecided], [60, 6, 1]);
    const hopeless = await adviseOn(localSimulator, changes, DEFAULT_SETTINGS, 9);
    assert.deepEqual([hopeless.decided, hopeless.replays], [121, []]);
    assert.match(hopeless.text, /takes too long/);
  });

  it('is refused for a short history, and for queues that are not there [K26]', async () => {
    const { past, ok, ref, refused } = await createWorld();
    assert.match((await ok<Advice>('/v1/adviseQueue', ref)).text, /^Tests have decided 0 pull requests of this/);
    await live(past, 29);
    const { decided, replays } = await ok<Advice>('/v1/adviseQueue', ref);
    assert.deepEqual([decided, replays], [29, []]);
    await refused('404 QUEUE_NOT_FOUND', '/v1/adviseQueue', { ...ref, targetBranch: 'other' });
  });
});
