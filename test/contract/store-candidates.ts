import assert from 'node:assert/strict';
import type { QueueId, QueueSnapshot } from '../../src/storage/queues.ts';
import { pluck } from '../helpers/pluck.ts';
import { aCandidate, aCommit, anEffect, aQueue, NOON, storeQueue } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function candidatePromises(tests: StoreTests): void {
  findPromises(tests);
  snapshotPromises(tests);
  refusalPromises(tests);
}

function findPromises({ inQueue, inStore }: StoreTests): void {
  inStore('a candidate is found by its number and by its id', async ({ store, queues, queueRecords }) => {
    const [{ id }, other] = [await storeQueue(store), await storeQueue(store)];
    const candidate = aCandidate(id, 1, { isBisection: true, sha: 'aa', endedAt: NOON + 1 });
    const ofOther = aCandidate(other.id, 1, { isLive: false });
    await queues.commit(aCommit(id, 1, { candidates: [candidate] }));
    await queues.commit(aCommit(other.id, 1, { candidates: [ofOther] }));
    assert.deepEqual(await queueRecords.findCandidate(id, 1), candidate);
    assert.deepEqual(await queueRecords.findCandidate(other.id, 1), ofOther);
    assert.deepEqual(await queueRecords.findCandidateById(candidate.id), candidate);
    assert.deepEqual(await queueRecords.findCandidateById(ofOther.id), ofOther);
    assert.equal(await queueRecords.findCandidate(id, 2), undefined);
    assert.equal(await queueRecords.findCandidateById('nothing'), undefined);
  });

  inQueue('a candidate that changes is replaced', async ({ queues, queueRecords, id }) => {
    const candidate = aCandidate(id, 1);
    await queues.commit(aCommit(id, 1, { candidates: [candidate] }));
    const changes: Partial<typeof candidate>[] = [
      { body: 'other' },
      { state: 'testing', sha: 'aa' },
      { state: 'passed', isBisection: true },
      { isLive: false, endedAt: NOON + 9 },
      { sha: null, createdAt: NOON + 1 },
    ];
    let expected = candidate;
    for (const [index, change] of changes.entries()) {
      expected = { ...expected, ...change, version: index + 3 };
      assert.equal(await queues.commit(aCommit(id, index + 2, { candidates: [expected] })), 'committed');
      assert.deepEqual(await queueRecords.findCandidate(id, 1), expected);
      assert.deepEqual(await queueRecords.findCandidateById(candidate.id), expected);
    }
  });

  inStore(
    'of the candidates of a commit the newest is found, in the queues that are asked',
    async ({ store, queues, queueRecords }) => {
      const all = await Promise.all(Array.from({ length: 3 }, () => storeQueue(store)));
      const [a, b, c] = all.map(({ id }) => id) as [QueueId, QueueId, QueueId];
      const sha = `sha-${a}`;
      const early = aCandidate(a, 7, { sha, isLive: false });
      const late = aCandidate(a, 8, { sha });
      const latest = aCandidate(b, 1, { sha, createdAt: NOON + 5 });
      await queues.commit(aCommit(a, 1, { candidates: [late, early, aCandidate(a, 9)] }));
      await queues.commit(aCommit(b, 1, { candidates: [latest, aCandidate(b, 2, { sha: `${sha}0` })] }));
      await queues.commit(aCommit(c, 1, { candidates: [aCandidate(c, 1, { sha, createdAt: NOON + 9 })] }));
      assert.deepEqual(await queueRecords.findCandidateBySha([a], sha), late);
      assert.deepEqual(await queueRecords.findCandidateBySha([a, b, a], sha), latest);
      const unknown = Array.from({ length: 700 }, (_, index) => `unknown-${index}` as QueueId);
      assert.deepEqual(await queueRecords.findCandidateBySha([b, ...unknown, a], sha), latest);
      assert.equal(await queueRecords.findCandidateBySha([a, b], 'nothing'), undefined);
      assert.equal(await queueRecords.findCandidateBySha([], sha), undefined);
    },
  );

  inQueue('the latest candidates that ended are listed, oldest first', async ({ queues, queueRecords, queue }) => {
    const of = (number: number, more = {}) => aCandidate(queue.id, number, { endedAt: NOON, ...more });
    // A pass that is remembered is live, and has ended.
    const [one, two, three, open] = [of(1), of(2, { isLive: true }), of(10), of(11, { endedAt: null })];
    await queues.commit(aCommit(queue.id, 1, { candidates: [three, open, one, two] }));
    assert.deepEqual(await queueRecords.listEndedCandidates(queue.id, 9), [one, two, three]);
    assert.deepEqual(await queueRecords.listEndedCandidates(queue.id, 2), [two, three]);
    assert.deepEqual(await queueRecords.listEndedCandidates('other' as QueueId, 2), []);
  });

  inQueue(
    'candidates of a deleted queue stay, and go with its repository',
    async ({ store, queues, queueRecords, repositories, queue }) => {
      const candidate = aCandidate(queue.id, 1, { sha: 'aa' });
      await queues.commit(aCommit(queue.id, 1, { candidates: [candidate] }));
      await queues.delete(queue.id, 2, { at: NOON, by: 'ada' });
      assert.deepEqual(await queueRecords.findCandidate(queue.id, 1), candidate);
      assert.deepEqual(await queueRecords.findCandidateById(candidate.id), candidate);
      assert.deepEqual(await queueRecords.findCandidateBySha([queue.id], 'aa'), candidate);
      const next = await storeQueue(store, aQueue({ repositoryId: queue.repositoryId }));
      assert.deepEqual((await queues.load(next.id))?.candidates, []);
      await queues.delete(next.id, 1, { at: NOON, by: 'ada' });
      assert.equal(await repositories.remove(queue.repositoryId), 'removed');
      assert.equal(await queueRecords.findCandidate(queue.id, 1), undefined);
      assert.equal(await queueRecords.findCandidateById(candidate.id), undefined);
    },
  );
}

function snapshotPromises({ inQueue, inStore }: StoreTests): void {
  inStore('a load has the live candidates only', async ({ store, queues }) => {
    const [{ id }, other] = [await storeQueue(store), await storeQueue(store)];
    const live = aCandidate(id, 1);
    await queues.commit(aCommit(id, 1, { candidates: [live, aCandidate(id, 2, { isLive: false })] }));
    await queues.commit(aCommit(other.id, 1, { candidates: [aCandidate(other.id, 1)] }));
    assert.deepEqual((await queues.load(id))?.candidates, [live]);
  });

  inQueue('a load since a version has the candidates that changed after it, live or not', async ({ queues, id }) => {
    const first = aCandidate(id, 1);
    await queues.commit(aCommit(id, 1, { candidates: [first, aCandidate(id, 2)] }));
    const ended = { ...first, version: 3, isLive: false };
    const fresh = aCandidate(id, 3, { version: 4 });
    await queues.commit(aCommit(id, 2, { candidates: [ended] }));
    await queues.commit(aCommit(id, 3, { candidates: [fresh] }));
    const since = async (version: number) => {
      const { candidates } = (await queues.loadSince(id, version)) as QueueSnapshot;
      return candidates.toSorted((a, b) => a.number - b.number);
    };
    assert.deepEqual(await since(2), [ended, fresh]);
    assert.deepEqual(await since(3), [fresh]);
    assert.deepEqual(await since(4), []);
    assert.deepEqual(pluck(await since(0), 'number'), [1, 2, 3]);
  });
}

function refusalPromises({ inQueue, inStore }: StoreTests): void {
  inQueue('a stale commit writes no candidate and no effect [D1]', async ({ queues, effects, id }) => {
    const before = aCandidate(id, 1);
    const effect = anEffect();
    await queues.commit(aCommit(id, 1, { candidates: [before], effects: [effect] }));
    const stored = await effects.list(id);
    const candidates = [{ ...before, state: 'passed' }, aCandidate(id, 2)];
    for (const expected of [0, 1, 3]) {
      const rows = { candidates, effects: [anEffect(), { ...effect, body: 'other' }], doneEffects: [effect.id] };
      assert.equal(await queues.commit(aCommit(id, expected, rows)), 'stale');
      assert.deepEqual((await queues.load(id))?.candidates, [before]);
      assert.deepEqual(await effects.list(id), stored);
    }
  });

  inStore(
    'a commit with one impossible candidate or effect writes nothing [D1]',
    async ({ store, queues, queueRecords, effects }) => {
      const [{ id }, other] = [await storeQueue(store), await storeQueue(store)];
      const [taken, effect] = [aCandidate(other.id, 1), anEffect()];
      await queues.commit(aCommit(other.id, 1, { candidates: [taken], effects: [effect] }));
      const good = aCandidate(id, 1);
      const impossible = [
        { candidates: [good, aCandidate(id, 2, { id: taken.id })] },
        { candidates: [good, aCandidate(id, 2, { id: good.id })] },
        { candidates: [good, aCandidate(id, 1)] },
        { candidates: [good, aCandidate(other.id, 2)] },
        { candidates: [good, aCandidate(id, 2, { body: '\0' })] },
        { candidates: [good], effects: [anEffect(), anEffect({ id: effect.id })] },
        { candidates: [good], effects: [effect, effect] },
      ];
      for (const rows of impossible) {
        await assert.rejects(queues.commit(aCommit(id, 1, rows)));
        assert.equal(await queues.findVersion(id), 1);
        assert.deepEqual((await queues.load(id))?.candidates, []);
        assert.deepEqual(await effects.list(id), []);
      }
      assert.deepEqual(await queueRecords.findCandidateById(taken.id), taken);
    },
  );
}
