import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_TEST_SETTINGS, defaultMonitors } from '../../src/flaky/settings.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Store } from '../../src/storage/store.ts';
import { anUpload } from '../helpers/an-upload.ts';
import {
  aCandidate,
  aCommit,
  aFailure,
  anEffect,
  anEntry,
  aStepDraft,
  aTest,
  aTransition,
  NOON,
  type OpenStore,
  storeQueue,
} from '../helpers/store-rows.ts';
import { applyResults } from '../helpers/test-results.ts';
import { aHint } from './store-hints.ts';

export function wholeStorePromises(open: () => Promise<OpenStore>): void {
  test('it answers, and has a key of 32 bytes', async (t) => {
    const { store, close } = await open();
    t.after(close);
    await store.ping();
    assert.equal(store.signingKey.length, 32);
    assert.ok((await store.measureSize()) > 10_000);
    assert.notDeepEqual(store.signingKey, new Uint8Array(32));
  });

  test('a closed store refuses', async (t) => {
    const { store, close } = await open();
    t.after(close);
    const queue = await storeQueue(store);
    await store.close();
    await store.close();
    const refusals: (() => Promise<unknown>)[] = [
      () => store.ping(),
      () => store.queues.load(queue.id),
      () => store.queues.commit(aCommit(queue.id, 1)),
    ];
    for (const refusal of refusals) {
      await assert.rejects(refusal, (error) => error instanceof Fault && error.code === 'STORE_UNAVAILABLE');
    }
  });

  test('writes that were under way when it closed are either stored or refused', async (t) => {
    const { store, reopen, close } = await open();
    t.after(close);
    if (reopen === undefined) t.skip('nothing outlives this store');
    else {
      const queue = await storeQueue(store);
      const writing = store.queues.commit(aCommit(queue.id, 1)).catch((error: unknown) => error);
      const again = await reopen();
      const version = await again.queues.findVersion(queue.id);
      assert.equal(version, (await writing) === 'committed' ? 2 : 1);
    }
  });

  test('everything is there after it is opened again', async (t) => {
    const { store, reopen, close } = await open();
    t.after(close);
    if (reopen === undefined) t.skip('nothing outlives this store');
    else {
      const queue = await fill(store);
      const other = await storeQueue(store);
      await store.queues.commit(aCommit(other.id, 1, { feed: [aStepDraft(other)] }));
      const before = await readAll(store, queue);
      const { signingKey } = store;
      const again = await reopen();
      assert.deepEqual(await readAll(again, queue), before);
      assert.deepEqual(again.signingKey, signingKey);
      // Events that waited for their places.
      while ((await again.feed.sequence(() => null, 9)).length > 0);
      assert.equal(await again.feed.findLatest(other.id, 2), 1);
    }
  });
}

type Queue = Awaited<ReturnType<typeof storeQueue>>;

async function fill(store: Store): Promise<Queue> {
  const queue = await storeQueue(store);
  await store.repositories.identify(queue.repositoryId, '12');
  await store.repositories.bar(queue.repositoryId, 'why', 1);
  const entry = anEntry(queue.id, 1, { targetsDigest: 'd' });
  const targetSets = [{ digest: 'd', body: '["a"]' }];
  const transitions = [aTransition(entry)];
  const candidates = [aCandidate(queue.id, 1), aCandidate(queue.id, 2, { isLive: false, endedAt: NOON, sha: 'aa' })];
  const effects = [anEffect(), anEffect(), anEffect({ dueAt: NOON + 1 })];
  await store.queues.commit(aCommit(queue.id, 1, { entries: [entry], transitions, candidates, effects, targetSets }));
  const claimed = await store.effects.claim({ holder: 'x', now: NOON, leaseUntil: NOON + 9, limit: 9 });
  await store.effects.settle({ id: claimed[0]?.id ?? '' }, 'x', { kind: 'park', at: NOON, error: 'why' });
  const row = aTest(queue.repositoryId, { quarantinedAt: NOON });
  await applyResults(store, { repositoryId: queue.repositoryId, tests: [row], runs: [aFailure(row.id)] });
  const upload = anUpload(queue.repositoryId);
  await store.uploadBodies.append(upload.bodyId ?? '', 0, Buffer.from('<xml/>'), NOON);
  await store.uploads.create(upload, 0);
  await store.uploadWork.claim('x', NOON, NOON + 9);
  const settings = { settings: DEFAULT_TEST_SETTINGS, monitors: defaultMonitors(queue.repositoryId, NOON) };
  await store.testSettings.save(queue.repositoryId, 0, settings, { at: NOON, actor: 'ada', detail: '{}' });
  await store.logs.append({ candidateId: 'c', check: 'unit' }, Buffer.from('ok\n'.repeat(400)), NOON);
  await store.alarms.raise({ id: 'a', queueId: queue.id, code: 'FOREIGN_PUSH', text: 'why', at: NOON });
  await store.alarms.setMark(queue.id, { sha: 'aa', version: 2, at: NOON }, undefined);
  await store.hints.add([aHint(), aHint({ key: 'later', dueAt: NOON + 1 })]);
  await store.pullRequestNotes.save({ repositoryId: queue.repositoryId, prNumber: 7, version: 1, body: '{}' });
  return queue;
}

async function readAll(store: Store, queue: Queue): Promise<unknown> {
  const page = { repositoryId: queue.repositoryId, watermark: 1, offset: 0, limit: 9 };
  return {
    repositories: await store.repositories.listAll(),
    loaded: await store.queues.load(queue.id),
    ended: await store.queueRecords.findCandidate(queue.id, 2),
    effects: await store.effects.list(queue.id),
    claimable: await store.effects.claim({ holder: 'y', now: NOON + 1, leaseUntil: NOON + 1, limit: 9 }),
    events: await store.queueRecords.listEvents(queue.id, 0, 9),
    transitions: await store.queueRecords.listTransitionsWithin({ queueIds: [queue.id], from: 0, until: NOON * 2 }),
    watermark: await store.tests.getWatermark(queue.repositoryId),
    quarantined: await store.tests.listQuarantined(page),
    log: await store.logs.read({ candidateId: 'c', check: 'unit' }, 0, 9999),
    alarms: await store.alarms.list([queue.id], 0, 9),
    mark: await store.alarms.findMark(queue.id),
    notices: await store.hints.claim({ holder: 'y', now: NOON + 1, leaseUntil: NOON + 1, limit: 9 }),
    note: await store.pullRequestNotes.find(queue.repositoryId, 7),
    runs: await store.testIngest.readRuns(queue.repositoryId, [1], 0),
    uncounted: await store.testIngest.listUncounted(queue.repositoryId),
    tests: await store.testIngest.loadRange(queue.repositoryId, 0, 9),
    uploads: await store.uploads.list(page),
    claimed: await store.uploadWork.claim('y', NOON, NOON + 9),
    settings: await store.testSettings.find(queue.repositoryId),
    changes: await store.testSettings.listChanges(queue.repositoryId, 9),
    failing: await store.tests.listFailing({ ...page, from: 0, until: NOON * 2 }),
  };
}
