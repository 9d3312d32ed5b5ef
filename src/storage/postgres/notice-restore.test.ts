import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDatabase, openPostgres, query } from '../../../test/helpers/postgres.ts';
import { aCommit, aStepDraft, storeQueue } from '../../../test/helpers/store-rows.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './open-postgres-store.ts';

/** As pg_restore makes a table anew, with the rows of the dump. */
const RESTORED = [
  'create table restored (like feed_heads including all)',
  'insert into restored select * from feed_heads',
  'drop table feed_heads',
  'alter table restored rename to feed_heads',
];

test('after a restore of PostgreSQL, events get places beyond those that readers saw before it [X55]', async (t) => {
  const url = await createDatabase();
  const store = await openPostgresStore({ url });
  const queue = await storeQueue(store);
  const tell = async (on: Store, version: number) => {
    const feed = [aStepDraft(queue, { version })];
    assert.equal(await on.queues.commit(aCommit(queue.id, version - 1, { feed })), 'committed');
    await on.feed.sequence(() => null, 9);
    return on.feed.findLatest(queue.id, version);
  };
  assert.equal(await tell(store, 2), 1);
  await store.close();
  const again = await openPostgresStore({ url });
  assert.equal(await tell(again, 3), 2);
  await again.close();

  await query(url, RESTORED);
  const [restored, other] = await Promise.all([openPostgres(t, url), openPostgres(t, url)]);
  const place = (await tell(restored, 4)) ?? 0;
  assert.ok(place > 1e12 && place < 1e15, `${place}`);
  assert.equal(await tell(other, 5), place + 1);
  assert.equal(await tell(await openPostgres(t, url), 6), place + 2);
});
