import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { OrganizationId } from '../../src/storage/accounts.ts';
import type { FeedQuery, FeedRow, Seal } from '../../src/storage/feed.ts';
import type { FeedDraft } from '../../src/storage/feed-draft.ts';
import type { QueueRow } from '../../src/storage/queues.ts';
import type { Store } from '../../src/storage/store.ts';
import { pluck } from '../helpers/pluck.ts';
import { aCommit, anEvent, aStepDraft, NOON, storeQueue } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';

const newOrganization = () => randomUUID() as OrganizationId;
const seal: Seal = ({ seq, type }, previous) => (type === 'record' ? `${previous ?? ''}${seq};` : null);

function aDraft(values: Partial<FeedDraft> = {}): FeedDraft {
  return {
    source: randomUUID(),
    version: 1,
    ordinal: 0,
    at: NOON,
    type: 'note',
    organizationId: null,
    repositoryId: null,
    queueId: null,
    targetBranch: null,
    prNumber: null,
    testId: null,
    body: '{"text":"é"}',
    ...values,
  };
}

/** Two versions, of which the second has two events. */
async function commitEvents(store: Store, queue: QueueRow, expectedVersion = 1): Promise<readonly FeedDraft[]> {
  const [first, second] = [expectedVersion + 1, expectedVersion + 2];
  const feed = [
    aStepDraft(queue, { version: first, prNumber: 7, body: '{"text":"a\\tb\\né"}' }),
    aStepDraft(queue, { version: second }),
    aStepDraft(queue, { version: second, ordinal: 1, type: 'record' }),
  ];
  const events = [anEvent(first), anEvent(second)];
  assert.equal(await store.queues.commit(aCommit(queue.id, expectedVersion, { events, feed })), 'committed');
  return feed;
}

async function organizationOf(store: Store, { repositoryId }: QueueRow): Promise<OrganizationId> {
  const repository = (await store.repositories.listAll()).find(({ id }) => id === repositoryId);
  assert.ok(repository);
  return repository.organizationId;
}

const everything = (organizationId: OrganizationId, more: Partial<FeedQuery> = {}): FeedQuery => ({
  organizationId,
  repositoryIds: null,
  order: 'ASC',
  limit: 100,
  ...more,
});
const placesOf = (rows: readonly FeedRow[]) => rows.map(({ seq, version, ordinal }) => [seq, version, ordinal]);

export function feedPromises({ inStore }: StoreTests): void {
  inStore('a version that several servers add at once is there once, as one of them has it', async ({ store }) => {
    const organizationId = newOrganization();
    const source = randomUUID();
    const versionOf = (count: number) =>
      Array.from({ length: count }, (_, ordinal) => aDraft({ organizationId, source, ordinal, body: `"${count}"` }));
    await Promise.all([1, 2, 3, 4].map((count) => store.feed.addOnce(organizationId, versionOf(count))));
    await store.feed.addOnce(organizationId, versionOf(5));
    await store.feed.addOnce(organizationId, []);
    while ((await store.feed.sequence(seal, 100)).length > 0);
    const listed = await store.feed.list(everything(organizationId));
    assert.ok(listed.length < 5 && listed.every(({ body }) => body === `"${listed.length}"`), JSON.stringify(listed));
  });

  inStore('events of one version get their places together, however many wait before them', async ({ store }) => {
    const organizationId = newOrganization();
    const of = { organizationId, source: 'z' };
    await store.feed.add([
      aDraft({ organizationId, source: 'a' }),
      ...[0, 1, 2].map((ordinal) => aDraft({ ...of, ordinal })),
    ]);
    const lengths: number[] = [];
    while ((await store.feed.sequence(seal, 3)).length > 0) {
      lengths.push((await store.feed.list(everything(organizationId))).length);
    }
    assert.deepEqual(lengths, [1, 4]);
  });

  inStore('events are invisible without a place, and get places in the order of their source', async ({ store }) => {
    const organizationId = newOrganization();
    const of = { organizationId, source: randomUUID() };
    // The clock went back between the versions.
    const events = [
      aDraft({ ...of, at: NOON + 9 }),
      aDraft({ ...of, ordinal: 1, at: NOON + 9 }),
      aDraft({ ...of, version: 2 }),
    ];
    await store.feed.add(events);
    assert.deepEqual(await store.feed.list(everything(organizationId)), []);
    await sequenceAll();
    const listed = await store.feed.list(everything(organizationId));
    assert.deepEqual(placesOf(listed), [
      [1, 1, 0],
      [2, 1, 1],
      [3, 2, 0],
    ]);
    assert.deepEqual(listed[0], { ...events[0], seq: 1, repo: null, digest: null });
    assert.deepEqual(await store.feed.getHead(organizationId), { lastSeq: 3, digest: null });
    assert.deepEqual(await store.feed.getHead(newOrganization()), { lastSeq: 0, digest: null });

    async function sequenceAll() {
      while ((await store.feed.sequence(seal, 2)).length > 0);
    }
  });

  inStore(
    'the events of a commit are invisible without a place, and come back as they were told',
    async ({ store }) => {
      const queue = await storeQueue(store);
      const organizationId = await organizationOf(store, queue);
      const told = await commitEvents(store, queue);
      assert.deepEqual(await store.feed.list(everything(organizationId)), []);
      await commitEvents(store, queue, 3);
      await store.feed.sequence(seal, 1);
      const once = await store.feed.list(everything(organizationId));
      assert.deepEqual(
        once.map(({ seq: _, repo, digest, ...row }) => ({ ...row, organizationId: null })),
        told,
      );
      while ((await store.feed.sequence(seal, 100)).length > 0);
      assert.deepEqual(placesOf(await store.feed.list(everything(organizationId))), [
        [1, 2, 0],
        [2, 3, 0],
        [3, 3, 1],
        [4, 4, 0],
        [5, 5, 0],
        [6, 5, 1],
      ]);
    },
  );

  inStore(
    'many who commit and give places at once give each event one, in the order of the queue [X2]',
    async ({ store }) => {
      const queues = [await storeQueue(store), await storeQueue(store)];
      const place = async () => {
        while ((await store.feed.sequence(seal, 3)).length > 0);
      };
      const work = async (queue: QueueRow) => {
        for (const version of [1, 3, 5, 7]) await commitEvents(store, queue, version).then(place);
      };
      await Promise.all([...queues.map(work), place(), place()]);
      for (const queue of queues) {
        const rows = await store.feed.list(everything(await organizationOf(store, queue)));
        const versions = [2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9];
        assert.deepEqual(
          pluck(rows, 'seq', 'version'),
          versions.map((version, index) => [index + 1, version]),
        );
      }
    },
  );

  inStore('commits are packed when their events have places, and no earlier [X2]', async ({ store }) => {
    const queue = await storeQueue(store);
    const pack = () => store.past.pack(queue.id, { bytes: 1_000_000, before: NOON + 99, now: NOON + 99 });
    await store.queues.commit(aCommit(queue.id, 1));
    await commitEvents(store, queue, 2);
    assert.deepEqual([await pack(), await pack()], [2, 0]);
    while ((await store.feed.sequence(seal, 100)).length > 0);
    assert.equal((await store.feed.list(everything(await organizationOf(store, queue)))).length, 3);
    assert.deepEqual([await pack(), await pack()], [2, 0]);
    assert.equal((await store.past.load(queue.id, NOON + 99))?.version, 4);
  });

  inStore('many who give places at once give each event one, without a gap [X2]', async ({ store }) => {
    const organizationId = newOrganization();
    const add = () => store.feed.add(Array.from({ length: 5 }, () => aDraft({ organizationId, type: 'record' })));
    const place = async () => {
      while ((await store.feed.sequence(seal, 3)).length > 0);
    };
    await Promise.all(Array.from({ length: 6 }, async () => add().then(place)));
    await place();
    const rows = await store.feed.list(everything(organizationId));
    assert.deepEqual(
      pluck(rows, 'seq'),
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
    const digest = rows.map(({ seq }) => `${seq};`).join('');
    assert.deepEqual(await store.feed.getHead(organizationId), { lastSeq: 30, digest });
    assert.equal(rows.at(-1)?.digest, digest);
  });

  inStore(
    'a repository names the organization, and its name then stays, also when it is removed [X7]',
    async ({ store }) => {
      const queue = await storeQueue(store);
      const { repositoryId, id: queueId } = queue;
      const [repository] = (await store.repositories.listAll()).filter(({ id }) => id === repositoryId);
      assert.ok(repository);
      const { host, owner, name, organizationId } = repository;
      await store.feed.add([aDraft({ repositoryId, queueId, targetBranch: 'main', prNumber: 7 })]);
      await store.feed.sequence(seal, 1_000);
      await store.repositories.rename(repositoryId, { host, owner, name: `${name}-2` }, NOON);
      const [row] = await store.feed.list(everything(organizationId, { prNumber: 7, targetBranch: 'main' }));
      assert.deepEqual(row?.repo, { host, owner, name });
      await commitEvents(store, queue);
      await store.queues.delete(queueId, 3, { at: NOON, by: 'ada' });
      await store.feed.add([aDraft({ repositoryId, prNumber: 8 })]);
      assert.equal(
        await store.repositories.remove(repositoryId, [aDraft({ organizationId, type: 'gone', at: NOON + 1 })]),
        'removed',
      );
      await store.feed.sequence(seal, 1_000);
      // Of a repository that is gone already.
      await store.feed.add([aDraft({ repositoryId })]);
      await store.feed.sequence(seal, 1_000);
      const types = (await store.feed.list(everything(organizationId))).map((each) => each.prNumber ?? each.type);
      assert.deepEqual(types.slice(0, 1), [7]);
      assert.deepEqual(types.slice(1, -1).map(String).sort(), ['7', '8', 'note', 'record']);
      assert.deepEqual(types.at(-1), 'gone');
    },
  );

  inStore('filters combine, in both directions', async ({ store }) => {
    const { repositoryId } = await storeQueue(store);
    const organizationId = newOrganization();
    const testId = randomUUID();
    const of = { organizationId, source: randomUUID() };
    await store.feed.add([
      aDraft({ ...of, version: 1, repositoryId, prNumber: 1, at: NOON + 1 }),
      aDraft({ ...of, version: 2, repositoryId, testId, type: 'record', at: NOON + 2 }),
      aDraft({ ...of, version: 3, type: 'secret', at: NOON + 3 }),
    ]);
    await store.feed.sequence(seal, 1_000);
    const seqs = async (more: Partial<FeedQuery>) =>
      (await store.feed.list(everything(organizationId, more))).map(({ seq }) => seq);
    assert.deepEqual(await seqs({ order: 'DESC' }), [3, 2, 1]);
    assert.deepEqual(await seqs({ order: 'DESC', afterSeq: 3, limit: 1 }), [2]);
    assert.deepEqual(await seqs({ afterSeq: 1 }), [2, 3]);
    assert.deepEqual(await seqs({ repositoryIds: [repositoryId, repositoryId] }), [1, 2]);
    assert.deepEqual(await seqs({ repositoryIds: [] }), []);
    assert.deepEqual(await seqs({ testId, repositoryIds: [repositoryId] }), [2]);
    assert.deepEqual(await seqs({ types: ['secret', 'note', 'x', 'y', 'z'] }), [1, 3]);
    assert.deepEqual(await seqs({ hiddenTypes: ['secret'] }), [1, 2]);
    assert.deepEqual(await seqs({ from: NOON + 2, until: NOON + 2 }), [2]);
    assert.deepEqual(await seqs({ isAuditOnly: true }), [2]);
    assert.equal((await store.feed.expire(NOON + 3, 1_000)) >= 1, true);
    assert.deepEqual(await seqs({}), [2, 3]);
  });
}
