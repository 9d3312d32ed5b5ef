import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localSimulator } from '../../../test/helpers/local-simulator.ts';
import { Past } from '../../../test/helpers/past-queue.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { adviseQueue as contract } from '../../contract/queues.ts';
import { DEFAULT_SETTINGS } from '../../engine/model/settings.ts';
import { HOUR_MS, PLAIN_CHANGE } from '../../policy/workload.ts';
import { isRefusal } from '../core/refusal.ts';
import { adviseOn, adviseQueue } from './advise-queue.ts';

type Advice = ReplyOf<typeof contract>;

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
    assert.deepEqual(pluck(advice.replays, 'runCost'), [undefined, 0.25, 1, 2, 4, 16]);
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
    const settings = DEFAULT_SETTINGS;
    const { decided, replays } = await adviseOn(localSimulator, changes, { settings, mostSteps: 400 });
    assert.deepEqual([decided, replays.length, replays[0]?.runsPerDecided], [60, 6, 1]);
    const hopeless = await adviseOn(localSimulator, changes, { settings, mostSteps: 9 });
    assert.deepEqual([hopeless.decided, hopeless.replays], [121, []]);
    assert.match(hopeless.text, /takes too long/);
  });

  it('replays it with the settings that somebody tries [K32]', async () => {
    const { past, ok, ref, refused } = await createWorld();
    await live(past, 42);
    const ask = (settings: object) => ok<Advice>('/v1/adviseQueue', { ...ref, settings });
    const { decided, text, replays } = await ask({ concurrency: 4 });
    assert.deepEqual([decided, replays.length], [42, 2]);
    const [now, four] = replays;
    assert.ok((four?.p95Minutes ?? 0) < (now?.p95Minutes ?? 0), 'four slots are faster than one');
    assert.ok((four?.ciHours ?? 0) >= (now?.ciHours ?? 0), 'and cost as much or more');
    assert.equal(now?.ciHours, 7, '42 runs of ten minutes');
    assert.match(
      text,
      /^These settings need 1\.\d\d CI runs per pull request instead of 1\.00 and land 95 of 100 within/,
    );
    const adaptive = await ask({ optimizationMode: 'ADAPTIVE', runCost: 3 });
    assert.deepEqual(pluck(adaptive.replays, 'runCost'), [undefined, 3]);
    for (const settings of [
      { concurrency: 0 },
      { concurrency: 1001 },
      { runCost: 1000 },
      { mode: 'X' },
      { batch: true },
    ])
      await refused('400 VALIDATION_FAILED', '/v1/adviseQueue', { ...ref, settings });
  });

  it('is refused while many wait for the simulator [K32]', async () => {
    const { past, app, store, ref } = await createWorld();
    await live(past, 30);
    const organization = await store.accounts.findOrganization('acme');
    assert.ok(organization);
    const caller = { organization, tokenId: '', name: 'ada', scopes: new Set(['read'] as const), repositoryIds: null };
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const busy = { ...app, simulator: { ...localSimulator, replay: () => promise } };
    const refused = Promise.withResolvers<void>();
    let ended = 0;
    const asked = Array.from({ length: 12 }, async (_, index) => {
      const answer = await adviseQueue(busy, caller, { ...ref, settings: { concurrency: index + 2 } });
      ended += 1;
      if (ended === 3) refused.resolve();
      return answer;
    });
    await refused.promise;
    resolve(undefined);
    assert.equal((await Promise.all(asked)).filter(isRefusal).length, 3, 'one is replayed, eight wait');
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
