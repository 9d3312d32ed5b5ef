import assert from 'node:assert/strict';
import type { QueueId, QueueSnapshot } from '../../src/storage/queues.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import { pluck } from '../helpers/pluck.ts';
import {
  aCommit,
  anEffect,
  anEntry,
  anEvent,
  aQueue,
  asStored,
  aTransition,
  DAY_MS,
  NOON,
  storeQueue,
} from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function queuePromises(tests: StoreTests): void {
  lifePromises(tests);
  commitPromises(tests);
  refusalPromises(tests);
  concurrencyPromises(tests);
  snapshotPromises(tests);
  targetPromises(tests);
  oldTargetPromises(tests);
}

function lifePromises({ inQueue, inRepository, inStore }: StoreTests): void {
  inQueue('a queue is created with its first event', async ({ queues, queueRecords, queue }) => {
    assert.deepEqual(await queues.find(queue.repositoryId, 'main'), queue);
    assert.equal(await queues.findVersion(queue.id), 1);
    assert.deepEqual(await queueRecords.listEvents(queue.id, 0, 10), [anEvent(1, { kind: 'queue_created' })]);
    assert.deepEqual(await queues.load(queue.id), { queue, entries: [], candidates: [], targetSets: [] });
  });

  inStore('a branch has one queue', async ({ store, queues, queueRecords }) => {
    const first = await storeQueue(store);
    const second = aQueue({ repositoryId: first.repositoryId });
    assert.equal(await queues.create(second, anEvent(1)), 'exists');
    assert.equal(await queues.load(second.id), undefined);
    assert.deepEqual(await queueRecords.listEvents(second.id, 0, 10), []);
  });

  inStore('a queue of no repository is refused', async ({ queues }) => {
    const queue = aQueue({ repositoryId: 'nothing' as RepositoryId });
    await assert.rejects(queues.create(queue, anEvent(1)));
    assert.equal(await queues.load(queue.id), undefined);
  });

  inRepository('queues are listed by branch, in the order of bytes', async ({ store, id: repositoryId, queues }) => {
    for (const branch of ['release/2', 'main', 'Zoo', 'release/10']) await storeQueue(store, { repositoryId, branch });
    const listed = await queues.listByRepository(repositoryId);
    assert.deepEqual(pluck(listed, 'branch'), ['Zoo', 'main', 'release/10', 'release/2']);
  });

  inQueue(
    'a deleted queue is in no answer, its branch is free, and its history stays',
    async ({ queues, queueRecords, queue }) => {
      assert.equal(await queues.delete(queue.id, 2, { at: NOON, by: 'ada' }), 'stale');
      assert.equal(await queues.delete(queue.id, 1, { at: NOON, by: 'ada' }), 'deleted');
      assert.equal(await queues.delete(queue.id, 1, { at: NOON, by: 'ada' }), 'stale');
      assert.equal(await queues.find(queue.repositoryId, 'main'), undefined);
      assert.deepEqual(await queues.listByRepository(queue.repositoryId), []);
      assert.equal(await queues.load(queue.id), undefined);
      assert.equal(await queues.loadSince(queue.id, 0), undefined);
      assert.equal(await queues.findVersion(queue.id), undefined);
      assert.equal(await queues.commit(aCommit(queue.id, 1)), 'stale');
      assert.equal((await queueRecords.listEvents(queue.id, 0, 10)).length, 2);
      assert.deepEqual(await queues.findDeleted(queue.repositoryId, 'main'), { id: queue.id, at: NOON, by: 'ada' });
      assert.equal(await queues.findDeleted(queue.repositoryId, 'other'), undefined);
      assert.equal(await queues.create(aQueue({ repositoryId: queue.repositoryId }), anEvent(1)), 'created');
    },
  );
}

function commitPromises({ inQueue }: StoreTests): void {
  inQueue('a commit stores everything it carries', async ({ queues, queueRecords, effects: outbox, id }) => {
    const entry = anEntry(id, 7, { version: 3, targetsDigest: 'commit-all' });
    const transitions = [
      aTransition(entry, { version: 2, to: 'NOT_READY' }),
      aTransition(entry, { from: 'NOT_READY', durationMs: 5, inQueueMs: 9, isBisection: true }),
    ];
    const effects = [anEffect({ dueAt: NOON + 3 }), anEffect({ kind: 'notify' })];
    const targets = {
      ...{ queueId: id, prNumber: 7, sha: 'f00', body: '{}', targetsDigest: 'commit-all', setAt: NOON },
      isOfFork: false,
    };
    const commit = aCommit(id, 1, {
      body: '{"x":1}',
      events: [anEvent(2), anEvent(3, { kind: 'pull_request_ready' })],
      entries: [entry],
      transitions,
      effects,
      targetSets: [{ digest: 'commit-all', body: '["a"]' }],
      impactedTargets: [targets],
    });
    assert.equal(await queues.commit(commit), 'committed');
    const loaded = await queues.load(id);
    assert.equal(loaded?.queue.version, 3);
    assert.equal(loaded?.queue.body, '{"x":1}');
    assert.deepEqual(loaded?.entries, [entry]);
    assert.deepEqual(loaded?.targetSets, commit.targetSets);
    assert.deepEqual(await queueRecords.listTransitions(entry.id), transitions.toReversed());
    assert.deepEqual(await queueRecords.listEvents(id, 1, 10), commit.events);
    assert.deepEqual(
      await outbox.list(id),
      effects.map((effect) => asStored(id, effect)),
    );
    assert.deepEqual(await queues.findImpactedTargets(id, 7, 'f00'), targets);
  });

  inQueue('an entry that changes is replaced', async ({ queues, queueRecords, id }) => {
    const entry = anEntry(id, 7);
    await queues.commit(aCommit(id, 1, { entries: [entry] }));
    const ended = { ...entry, version: 3, isLive: false, state: 'MERGED', submittedAt: NOON + 5, body: '{"n":2}' };
    await queues.commit(aCommit(id, 2, { entries: [ended] }));
    assert.deepEqual(await queueRecords.findEntry(id, 7), ended);
    assert.deepEqual((await queues.load(id))?.entries, []);
    assert.equal(await queueRecords.findHighestNumber(id), 7);
  });

  inQueue('effects are kept in order until they are done', async ({ queues, effects, id }) => {
    const [a, b, c] = [anEffect({ dueAt: NOON + 9 }), anEffect(), anEffect()];
    await queues.commit(aCommit(id, 1, { effects: [a, b] }));
    await queues.commit(aCommit(id, 2, { effects: [c], doneEffects: [a.id, 'unknown'] }));
    assert.deepEqual(await effects.list(id), [asStored(id, b), asStored(id, c)]);
    const again = { ...b, dueAt: NOON + 60 };
    await queues.commit(aCommit(id, 3, { effects: [again] }));
    assert.deepEqual(await effects.list(id), [asStored(id, again), asStored(id, c)]);
  });

  inQueue('pull request numbers reach the largest of 32 bits', async ({ queues, queueRecords, id }) => {
    const entry = anEntry(id, 4_294_967_295);
    await queues.commit(aCommit(id, 1, { entries: [entry], transitions: [aTransition(entry)] }));
    assert.deepEqual(await queueRecords.findEntry(id, 4_294_967_295), entry);
    assert.deepEqual(await queueRecords.listTransitions(entry.id), [aTransition(entry)]);
  });

  inQueue('text comes back as it was', async ({ queues, queueRecords, id }) => {
    const odd = [
      `' " \\ ; -- %s $1 ?`,
      '\u{1f9ea}\u{1f469}\u200d\u{1f680}',
      '\t\r\n\u0001\u2028',
      'é e\u0301',
      '',
      'x'.repeat(1_000_000),
    ];
    const entries = odd.map((body, index) => anEntry(id, index + 1, { body, state: body.slice(0, 50) }));
    await queues.commit(aCommit(id, 1, { body: odd.join(''), entries }));
    assert.equal((await queues.load(id))?.queue.body, odd.join(''));
    for (const entry of entries) assert.deepEqual(await queueRecords.findEntry(id, entry.prNumber), entry);
  });

  inQueue('half a surrogate pair becomes the replacement character', async ({ queues, queueRecords, id }) => {
    await queues.commit(aCommit(id, 1, { entries: [anEntry(id, 1, { body: 'a\ud800b' })] }));
    assert.equal((await queueRecords.findEntry(id, 1))?.body, 'a\ufffdb');
  });
}

function refusalPromises({ inQueue }: StoreTests): void {
  inQueue('a commit at another version is stale and writes nothing', async ({ queues, queueRecords, effects, id }) => {
    for (const expected of [0, 2, 9]) {
      const entry = anEntry(id, 7);
      const commit = aCommit(id, expected, {
        entries: [entry],
        transitions: [aTransition(entry)],
        effects: [anEffect()],
        targetSets: [{ digest: `stale-${id}`, body: '[]' }],
      });
      assert.equal(await queues.commit(commit), 'stale');
      assert.equal(await queueRecords.findEntry(id, 7), undefined);
      assert.deepEqual(await queueRecords.listTransitions(entry.id), []);
    }
    assert.equal(await queues.findVersion(id), 1);
    assert.deepEqual(await effects.list(id), []);
    assert.equal(await queues.findTargetSet(`stale-${id}`), undefined);
    assert.equal(await queues.commit(aCommit('nothing' as QueueId, 1)), 'stale');
  });

  inQueue('a commit with one impossible row writes nothing', async ({ queues, queueRecords, id }) => {
    const entry = anEntry(id, 7);
    await queues.commit(aCommit(id, 1, { entries: [entry], transitions: [aTransition(entry)] }));
    const impossible = [
      { entries: [anEntry(id, 8), anEntry(id, 7)] },
      { entries: [anEntry(id, 8)], transitions: [aTransition(entry)] },
      { entries: [anEntry(id, 8, { body: 'a\0b' })] },
      { entries: [anEntry(id, 8)], effects: [anEffect({ body: '\0' })] },
      { entries: [anEntry('another' as QueueId, 8)] },
      { entries: [anEntry(id, 8)], events: [anEvent(4)] },
      { entries: [anEntry(id, 8)], events: [] },
    ];
    for (const rows of impossible) {
      await assert.rejects(queues.commit(aCommit(id, 2, rows)));
      assert.equal(await queues.findVersion(id), 2);
      assert.equal(await queueRecords.findEntry(id, 8), undefined);
      assert.equal((await queueRecords.listEvents(id, 0, 10)).length, 2);
    }
  });
}

function concurrencyPromises({ inQueue, inStore }: StoreTests): void {
  inQueue('of many commits from one version exactly one is stored', async ({ queues, id }) => {
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, index) => queues.commit(aCommit(id, 1, { entries: [anEntry(id, index + 1)] }))),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'committed').length, 1);
    assert.equal((await queues.load(id))?.entries.length, 1);
    assert.equal(await queues.findVersion(id), 2);
  });

  inStore('a bad commit among others at once harms none of them', async ({ store, queues }) => {
    const all = await Promise.all(Array.from({ length: 9 }, () => storeQueue(store)));
    const outcomes = await Promise.allSettled(
      all.map(({ id }, index) => {
        if (index === 3) return queues.commit(aCommit(id, 5));
        const body = index === 4 ? '\0' : '{}';
        return queues.commit(aCommit(id, 1, { entries: [anEntry(id, 1, { body })] }));
      }),
    );
    const told = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'rejected'));
    const expected = all.map((_, index) => (index === 3 ? 'stale' : index === 4 ? 'rejected' : 'committed'));
    assert.deepEqual(told, expected);
    const versions = await Promise.all(all.map(({ id }) => queues.findVersion(id)));
    assert.deepEqual(
      versions,
      expected.map((outcome) => (outcome === 'committed' ? 2 : 1)),
    );
  });
}

function snapshotPromises({ inQueue }: StoreTests): void {
  inQueue('a load has the live entries and their target sets only', async ({ queues, id }) => {
    const live = anEntry(id, 1, { targetsDigest: `live-${id}` });
    const ended = anEntry(id, 2, { isLive: false, targetsDigest: `ended-${id}` });
    const targetSets = [live, ended].map((entry) => ({ digest: entry.targetsDigest ?? '', body: '[]' }));
    await queues.commit(aCommit(id, 1, { entries: [live, ended], targetSets }));
    const loaded = await queues.load(id);
    assert.deepEqual(loaded?.entries, [live]);
    assert.deepEqual(loaded?.targetSets, targetSets.slice(0, 1));
  });

  inQueue('a load since a version has what changed after it, live or not', async ({ queues, id }) => {
    const first = anEntry(id, 1, { targetsDigest: `one-${id}` });
    const targetSets = [{ digest: `one-${id}`, body: '["a"]' }];
    await queues.commit(aCommit(id, 1, { entries: [first, anEntry(id, 2)], targetSets }));
    const ended = { ...first, version: 3, isLive: false };
    await queues.commit(aCommit(id, 2, { entries: [ended] }));
    const since = async (version: number) => queues.loadSince(id, version) as Promise<QueueSnapshot>;
    assert.deepEqual((await since(2)).entries, [ended]);
    assert.deepEqual((await since(2)).targetSets, targetSets);
    assert.equal((await since(2)).queue.version, 3);
    assert.deepEqual(await since(3), { ...(await since(3)), entries: [], targetSets: [] });
    assert.deepEqual((await since(0)).entries.map(({ prNumber }) => prNumber).sort(), [1, 2]);
    assert.equal(await queues.loadSince('nothing' as QueueId, 0), undefined);
  });

  inQueue(
    'nothing that is handed out, or was handed in, changes what is stored',
    async ({ queues, queueRecords, id }) => {
      const entry = anEntry(id, 1);
      const commit = aCommit(id, 1, { entries: [entry] });
      await queues.commit(commit);
      const expected = structuredClone(entry);
      Object.assign(entry, { body: 'changed' });
      const found = await queueRecords.findEntry(id, 1);
      Reflect.set(found as object, 'body', 'changed');
      assert.deepEqual(await queueRecords.findEntry(id, 1), expected);
    },
  );
}

function targetPromises({ inQueue, inStore }: StoreTests): void {
  inQueue(
    'an entry is stored as it is given, with a transition or without one',
    async ({ queues, queueRecords, id }) => {
      const entry = anEntry(id, 1);
      await queues.commit(aCommit(id, 1, { entries: [entry] }));
      const changes: Partial<typeof entry>[] = [
        { body: 'other' },
        { state: 'CANCELLED', isLive: false },
        { submittedAt: entry.submittedAt + 1 },
        { targetsDigest: 'digest' },
        { targetsDigest: null, body: 'again' },
      ];
      let expected = entry;
      for (const [index, change] of changes.entries()) {
        expected = { ...expected, ...change, version: index + 3 };
        assert.equal(await queues.commit(aCommit(id, index + 2, { entries: [expected] })), 'committed');
        assert.deepEqual(await queueRecords.findEntry(id, 1), expected);
      }
    },
  );

  inQueue(
    'impacted targets are stored before there is an entry, and replaced for the same commit',
    async ({ queues, id }) => {
      const digest = `saved-${id}`;
      const row = {
        ...{ queueId: id, prNumber: 5, sha: 'aa', body: '{"kind":"some"}', targetsDigest: digest, setAt: NOON },
        isOfFork: false,
      };
      await queues.commit(aCommit(id, 1, { impactedTargets: [row], targetSets: [{ digest, body: '["x"]' }] }));
      assert.deepEqual(await queues.findImpactedTargets(id, 5, 'aa'), row);
      assert.equal(await queues.findImpactedTargets(id, 5, 'bb'), undefined);
      assert.deepEqual(await queues.findTargetSet(digest), { digest, body: '["x"]' });
      const all = { ...row, body: '{"kind":"all"}', targetsDigest: null, setAt: NOON + 1 };
      await queues.commit(aCommit(id, 2, { impactedTargets: [all] }));
      assert.deepEqual(await queues.findImpactedTargets(id, 5, 'aa'), all);
    },
  );

  inStore('a target set is stored once and never changes', async ({ store, queues }) => {
    const [a, b] = [await storeQueue(store), await storeQueue(store)];
    const digests = [`z-${a.id}`, `y-${a.id}`];
    const first = digests.map((digest) => ({ digest, body: '["first"]' }));
    await queues.commit(aCommit(a.id, 1, { targetSets: first }));
    await queues.commit(aCommit(b.id, 1, { targetSets: digests.map((digest) => ({ digest, body: '["second"]' })) }));
    assert.deepEqual(await queues.findTargetSet(digests[1] ?? ''), first[1]);
  });
}

function oldTargetPromises({ inQueue }: StoreTests): void {
  const aRow = (queueId: QueueId, index: number, targetsDigest: string | null = null) => {
    return {
      queueId,
      prNumber: 5,
      sha: `sha-${index}`,
      body: '{}',
      targetsDigest,
      setAt: NOON + index,
      isOfFork: false,
    };
  };

  inQueue('impacted targets are kept for the 20 newest commits of a pull request', async ({ queues, id }) => {
    const other = { ...aRow(id, 0), prNumber: 6 };
    await queues.commit(aCommit(id, 1, { impactedTargets: [other] }));
    const rows = Array.from({ length: 24 }, (_, index) => aRow(id, index));
    await queues.commit(aCommit(id, 2, { impactedTargets: rows.slice(0, 22).toReversed() }));
    await queues.commit(aCommit(id, 3, { impactedTargets: rows.slice(22) }));
    const found = await Promise.all(rows.map(({ sha }) => queues.findImpactedTargets(id, 5, sha)));
    assert.deepEqual(
      found,
      rows.map((row, index) => (index < 4 ? undefined : row)),
    );
    assert.deepEqual(await queues.findImpactedTargets(id, 6, other.sha), other);
  });

  inQueue(
    'impacted targets of a fork give way to others, and replace only those of a fork [G80]',
    async ({ queues, id }) => {
      let version = 1;
      const commit = async (...rows: readonly ReturnType<typeof aRow>[]) => {
        assert.equal(await queues.commit(aCommit(id, version, { impactedTargets: rows })), 'committed');
        version += 1;
        return (await queues.findImpactedTargets(id, 5, 'sha-1'))?.body;
      };
      const fork = (body: string) => ({ ...aRow(id, 1), body, isOfFork: true });
      const token = (body: string) => ({ ...aRow(id, 1), body });
      assert.equal(await commit(fork('1')), '1');
      assert.equal(await commit(fork('2')), '2');
      assert.deepEqual(await queues.findImpactedTargets(id, 5, 'sha-1'), fork('2'));
      assert.equal(await commit(token('3'), fork('4')), '3');
      assert.equal(await commit(fork('5')), '3');
      assert.equal(await commit(fork('6'), token('7')), '7');
      assert.deepEqual(await queues.findImpactedTargets(id, 5, 'sha-1'), token('7'));
    },
  );

  inQueue(
    'impacted targets of forks take no room from others, nor the other way round [G154]',
    async ({ queues, id }) => {
      const token = [aRow(id, 0), aRow(id, 1)];
      const forks = Array.from({ length: 24 }, (_, index) => ({ ...aRow(id, index + 2), isOfFork: true }));
      const find = (rows: readonly ReturnType<typeof aRow>[]) =>
        Promise.all(rows.map(({ sha }) => queues.findImpactedTargets(id, 5, sha)));
      await queues.commit(aCommit(id, 1, { impactedTargets: token }));
      await queues.commit(aCommit(id, 2, { impactedTargets: forks.slice(0, 21) }));
      await queues.commit(aCommit(id, 3, { impactedTargets: forks.slice(21) }));
      assert.deepEqual(await find(token), token);
      const kept = forks.map((row, index) => (index < 4 ? undefined : row));
      assert.deepEqual(await find(forks), kept);
      const more = Array.from({ length: 19 }, (_, index) => aRow(id, index + 50));
      await queues.commit(aCommit(id, 4, { impactedTargets: more }));
      assert.deepEqual(await find([...token, ...more]), [undefined, token[1], ...more]);
      assert.deepEqual(await find(forks), kept);
    },
  );

  inQueue('of impacted targets and target sets given twice in one commit one is stored', async ({ queues, id }) => {
    const digest = `twice-${id}`;
    const [first, last] = [aRow(id, 1, digest), { ...aRow(id, 1, digest), body: '{"n":2}', setAt: NOON + 2 }];
    const targetSets = [1, 2].map(() => ({ digest, body: '["a"]' }));
    assert.equal(await queues.commit(aCommit(id, 1, { impactedTargets: [first, last], targetSets })), 'committed');
    assert.deepEqual(await queues.findImpactedTargets(id, 5, 'sha-1'), last);
    assert.deepEqual(await queues.findTargetSet(digest), targetSets[0]);
  });

  inQueue('target sets that nothing names any more are removed once they are old', async ({ queues, id }) => {
    // Instants that no other test uses: nobody else's sets are that old.
    const at = (version: number, day: number) => ({ events: [anEvent(version, { at: day * DAY_MS })] });
    const names = ['ofEntry', 'ofUpload', 'unused', 'named again', 'young'];
    const [ofEntry, ofUpload, unused, again, young] = names.map((name) => ({ digest: `${name} ${id}`, body: '[]' }));
    assert.ok(ofEntry && ofUpload && unused && again && young);
    await queues.commit(
      aCommit(id, 1, {
        ...at(2, 1),
        targetSets: [ofEntry, ofUpload, unused, again],
        entries: [anEntry(id, 1, { isLive: false, targetsDigest: ofEntry.digest })],
        impactedTargets: [aRow(id, 1, ofUpload.digest)],
      }),
    );
    await queues.commit(aCommit(id, 2, { ...at(3, 9), targetSets: [again, young] }));
    assert.equal(await queues.removeUnusedTargetSets(DAY_MS), 0);
    assert.equal(await queues.removeUnusedTargetSets(9 * DAY_MS), 1);
    assert.equal(await queues.removeUnusedTargetSets(9 * DAY_MS), 0);
    const left = await Promise.all(
      [ofEntry, ofUpload, unused, again, young].map((s) => queues.findTargetSet(s.digest)),
    );
    assert.deepEqual(left, [ofEntry, ofUpload, undefined, again, young]);

    const changed = { ...aRow(id, 1), setAt: NOON + 1 };
    await queues.commit(aCommit(id, 3, { impactedTargets: [changed] }));
    assert.equal(await queues.removeUnusedTargetSets(9 * DAY_MS + 1), 3);
    assert.deepEqual(await queues.findTargetSet(ofEntry.digest), ofEntry);
  });
}
