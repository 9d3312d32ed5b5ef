import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Past } from '../../../test/helpers/past-queue.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { getQueueHealth as contract } from '../../contract/queue-health.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { HOUR_MS } from '../../policy/workload.ts';

const SOURCES = { file: undefined, fileProblem: undefined, protection: ['ci'], commands: '' };
const PASSED = { name: 'ci', status: 'COMPLETED', conclusion: 'SUCCESS' };

describe('the savings of rules for lanes', () => {
  it('tell how long half of the pull requests would have taken without the first barrier and target [T20]', async () => {
    const { app, store, repository, clock, ref, ok } = await createQueueInProcess();
    await ok('/v1/updateQueue', { ...ref, mode: 'PARALLEL', concurrency: 4, batch: false });
    const queue = await store.queues.find(repository.id, 'main');
    assert.ok(queue);
    const past = new Past(app.queues, queue.id, clock.now() - 20 * HOUR_MS);
    // As computed ones, without the questions that those would have answered first.
    const everything = { kind: 'all', cause: 'computed', by: { code: 'BARRIER', name: 'lock' } } as const;
    const lists = ['web', 'api'].map((name) => ({ kind: 'list', digest: name, count: 1, targets: [name] }) as const);
    const candidates = async () => {
      const loaded = await app.queues.find(queue.id);
      return loaded === undefined ? [] : [...valuesOf(loaded.queue.candidates)];
    };
    // The first of four takes long, and the others wait for it.
    for (let minute = 0; minute < 400; minute += 40) {
      for (let index = 0; index < 4; index += 1)
        await past.submit(minute, minute / 10 + index + 1, undefined, index === 0 ? everything : lists[index % 2]);
      const [, ...others] = await candidates();
      for (const { number: candidate } of others) {
        const commit = { sha: `sha of ${candidate}`, tree: `tree of ${candidate}`, sources: SOURCES };
        await past.tell(minute, () => ({ kind: 'candidate_built', candidate, ...commit }));
        await past.tell(minute + 10, () => ({ kind: 'check_reported', candidate, check: PASSED }));
      }
      for (let index = 0; index < 4; index += 1) await past.finish(minute + 36, 'SUCCESS');
    }
    const ask = (more: object) => ok<ReplyOf<typeof contract>>('/v1/getQueueHealth', { ...ref, ...more });
    const { serialises } = await ask({ withSavings: true });
    const tops = ['BARRIER', 'TARGET'].map((kind) => serialises.find((one) => one.kind === kind));
    assert.partialDeepStrictEqual(tops, [
      { name: 'lock', p50MinutesNow: 36, p50MinutesWithout: 10 },
      { name: 'api', p50MinutesNow: 36, p50MinutesWithout: 36 },
    ]);
    assert.ok((await ask({})).serialises.every((one) => !('p50MinutesNow' in one)));
  });
});
