// Packs the past of the only queue in a store, and says so before each pack, so that it can be killed in the middle.
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';

const [, , directory = '', now = '0'] = process.argv;
const store = await openSqliteStore({ directory });
const [repository] = await store.repositories.listAll();
const [queue] = repository === undefined ? [] : await store.queues.listByRepository(repository.id);
if (queue === undefined) throw new Error('The store has no queue.');
while ((await store.feed.sequence(() => null, 500)).length > 0);
do process.stdout.write('.');
while ((await store.past.pack(queue.id, { bytes: 1, before: 0, now: Number(now) })) > 0);
await store.close();
