import assert from 'node:assert/strict';
import type { EntryFilter, EntryRow, QueueId } from '../../src/storage/queues.ts';
import type { Store } from '../../src/storage/store.ts';
import { aCommit, anEntry, anEvent, aTransition, NOON, storeQueue } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

export function queueListPromises(tests: StoreTests): void {
  entryPromises(tests);
  conclusionPromises(tests);
  transitionPromises(tests);
  departurePromises(tests);
  eventPromises(tests);
}

async function storeEntries(store: Store, values: readonly Partial<EntryRow>[]): Promise<readonly EntryRow[]> {
  const { id } = await storeQueue(store);
  const entries = values.map((value, index) => anEntry(id, index + 1, value));
  await store.queues.commit(aCommit(id, 1, { entries }));
  return entries;
}

async function listNumbers(store: Store, filter: Omit<EntryFilter, 'limit'> & { limit?: number }): Promise<number[]> {
  return (await store.queueRecords.listEntries({ limit: 100, ...filter })).map(({ prNumber }) => prNumber);
}

function entryPromises({ inStore }: StoreTests): void {
  inStore('several entries are found at once; unknown numbers are passed over', async ({ store, queueRecords }) => {
    const entries = await storeEntries(
      store,
      Array.from({ length: 70 }, () => ({})),
    );
    const queueId = entries[0]?.queueId as QueueId;
    const find = async (prNumbers: number[]) =>
      (await queueRecords.findEntries(queueId, prNumbers)).map(({ prNumber }) => prNumber).sort((a, b) => a - b);
    assert.deepEqual(await find([]), []);
    assert.deepEqual(await find([3, 99, 1, 3]), [1, 3]);
    assert.equal((await find(Array.from({ length: 2000 }, (_, index) => index))).length, 70);
  });

  inStore('entries are listed by latest submission, then id', async ({ store }) => {
    const ids = ['a', 'b', 'C'];
    const entries = await storeEntries(store, [
      { submittedAt: NOON },
      { submittedAt: NOON + 2 },
      ...ids.map((id) => ({ submittedAt: NOON + 1, id: `${id}-${Math.random()}` })),
    ]);
    const queueId = entries[0]?.queueId as QueueId;
    assert.deepEqual(await listNumbers(store, { queueId }), [2, 5, 3, 4, 1]);
  });

  inStore('pages continue after an entry, whatever ties there are', async ({ store, queueRecords }) => {
    const entries = await storeEntries(
      store,
      Array.from({ length: 23 }, (_, index) => ({ submittedAt: NOON + Math.floor(index / 5) })),
    );
    const queueId = entries[0]?.queueId as QueueId;
    const whole = await queueRecords.listEntries({ queueId, limit: 100 });
    const paged: EntryRow[] = [];
    for (;;) {
      const afterId = paged.at(-1)?.id;
      const page = await queueRecords.listEntries({
        queueId,
        limit: 4,
        ...(afterId === undefined ? {} : { afterId }),
      });
      if (page.length === 0) break;
      paged.push(...page);
    }
    assert.equal(whole.length, 23);
    assert.deepEqual(paged, whole);
    assert.deepEqual(await listNumbers(store, { queueId, afterId: 'unknown' }), []);
  });

  inStore('entries are listed by state', async ({ store }) => {
    const entries = await storeEntries(store, [{ state: 'QUEUED' }, { state: 'MERGED' }, { state: 'QUEUED' }]);
    const queueId = entries[0]?.queueId as QueueId;
    const queued = await listNumbers(store, { queueId, state: 'QUEUED' });
    assert.deepEqual(queued.sort(), [1, 3]);
    assert.deepEqual(await listNumbers(store, { queueId, state: 'FAILED' }), []);
  });
}

function conclusionPromises({ inQueue, inStore }: StoreTests): void {
  inStore(
    'entries are listed by the instants at which they concluded, both ends included',
    async ({ store, queues }) => {
      const entries = await storeEntries(store, [{}, {}, {}, {}, {}]);
      const queueId = entries[0]?.queueId as QueueId;
      const [one, two, three, four] = entries as [EntryRow, EntryRow, EntryRow, EntryRow];
      const conclude = (entry: EntryRow, at: number, to: string, ordinal = 0) =>
        aTransition(entry, { version: 3, at, to, ordinal });
      await queues.commit(
        aCommit(queueId, 2, {
          transitions: [
            conclude(one, NOON + 10, 'MERGED'),
            conclude(two, NOON + 20, 'FAILED'),
            conclude(three, NOON + 30, 'CANCELLED'),
            conclude(three, NOON + 20, 'FAILED', 1),
            conclude(four, NOON + 20, 'TESTING'),
          ],
        }),
      );
      const list = async (window: Partial<EntryFilter>) => (await listNumbers(store, { queueId, ...window })).sort();
      assert.deepEqual(await list({ concludedFrom: NOON + 20 }), [2, 3]);
      assert.deepEqual(await list({ concludedUntil: NOON + 10 }), [1]);
      assert.deepEqual(await list({ concludedFrom: NOON + 11, concludedUntil: NOON + 20 }), [2, 3]);
      assert.deepEqual(await list({ concludedFrom: NOON + 21, concludedUntil: NOON + 29 }), []);
      assert.deepEqual(await list({ concludedFrom: 0, concludedUntil: NOON + 99, state: 'MERGED' }), []);
    },
  );

  inQueue('many conclusions page as few do', async ({ store, queues, id }) => {
    const entries = Array.from({ length: 6000 }, (_, index) =>
      anEntry(id, index + 1, { state: 'MERGED', isLive: false, submittedAt: NOON + index }),
    );
    const transitions = entries.map((entry) => aTransition(entry, { at: NOON + entry.prNumber }));
    await queues.commit(aCommit(id, 1, { entries, transitions }));
    const after = entries[5900]?.id as string;
    const filter = { queueId: id, concludedFrom: NOON + 2, state: 'MERGED', limit: 3 };
    assert.deepEqual(await listNumbers(store, filter), [6000, 5999, 5998]);
    assert.deepEqual(await listNumbers(store, { ...filter, afterId: after }), [5900, 5899, 5898]);
    assert.equal((await listNumbers(store, { ...filter, limit: 9999 })).length, 5999);
  });
}

function transitionPromises({ inStore }: StoreTests): void {
  inStore('a timeline is told newest first', async ({ store, queues, queueRecords }) => {
    const [entry] = (await storeEntries(store, [{}])) as [EntryRow];
    const transitions = [
      aTransition(entry, { version: 3, ordinal: 0, at: NOON + 9 }),
      aTransition(entry, { version: 3, ordinal: 1, at: NOON + 9 }),
      aTransition(entry, { version: 4, ordinal: 0, at: NOON + 8 }),
    ];
    await queues.commit(aCommit(entry.queueId, 2, { transitions: transitions.slice(0, 2) }));
    await queues.commit(aCommit(entry.queueId, 3, { transitions: transitions.slice(2) }));
    assert.deepEqual(await queueRecords.listTransitions(entry.id), transitions.toReversed());
    assert.deepEqual(await queueRecords.listTransitions('unknown'), []);
  });

  inStore(
    'what happened in several queues within a window is told oldest first, both ends included',
    async ({ store, queues, queueRecords }) => {
      const [a] = (await storeEntries(store, [{}])) as [EntryRow];
      const [b] = (await storeEntries(store, [{}])) as [EntryRow];
      const ofA = [5, 10, 20, 21].map((at, ordinal) => aTransition(a, { version: 3, ordinal, at: NOON + at }));
      const ofB = [15].map((at, ordinal) => aTransition(b, { version: 3, ordinal, at: NOON + at }));
      await queues.commit(aCommit(a.queueId, 2, { transitions: ofA }));
      await queues.commit(aCommit(b.queueId, 2, { transitions: ofB }));
      const window = { from: NOON + 10, until: NOON + 20 };
      const within = (queueIds: QueueId[]) => queueRecords.listTransitionsWithin({ ...window, queueIds });
      assert.deepEqual(await within([a.queueId, b.queueId, 'unknown' as QueueId]), [ofA[1], ofB[0], ofA[2]]);
      assert.deepEqual(await within([b.queueId]), ofB);
      assert.deepEqual(await within([]), []);
    },
  );
}

function departurePromises({ inStore }: StoreTests): void {
  inStore(
    'the transitions out of a state are told newest first, both ends included, with their number',
    async ({ store, queues, queueRecords }) => {
      const [entry] = (await storeEntries(store, [{}])) as [EntryRow];
      const { queueId } = entry;
      const transitions = [10, 20, 20, 30, 31].map((at, ordinal) =>
        aTransition(entry, { version: 3, ordinal, at: NOON + at, from: ordinal === 1 ? 'QUEUED' : 'TESTING' }),
      );
      await queues.commit(aCommit(queueId, 2, { transitions }));
      const list = (offset: number, limit: number) =>
        queueRecords.listDepartures({ queueId, state: 'TESTING', from: NOON + 10, until: NOON + 30, offset, limit });
      assert.deepEqual(await list(0, 9), { rows: [transitions[3], transitions[2], transitions[0]], total: 3 });
      assert.deepEqual(await list(1, 1), { rows: [transitions[2]], total: 3 });
      assert.deepEqual(await list(5, 1), { rows: [], total: 3 });
    },
  );
}

function eventPromises({ inQueue }: StoreTests): void {
  inQueue('events are told oldest first, after a version, up to a limit', async ({ queues, queueRecords, id }) => {
    const events = Array.from({ length: 9 }, (_, index) => anEvent(index + 2));
    await queues.commit(aCommit(id, 1, { events }));
    assert.deepEqual(await queueRecords.listEvents(id, 3, 4), events.slice(2, 6));
    assert.deepEqual(await queueRecords.listEvents(id, 10, 4), []);
  });
}
