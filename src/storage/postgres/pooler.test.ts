import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFault } from '../../../test/contract/store-folder.ts';
import { startPgbouncer, withoutPgbouncer } from '../../../test/helpers/pgbouncer.ts';
import { createEmptyDatabase, openPostgres, query } from '../../../test/helpers/postgres.ts';
import { aCommit, anEntry, storeQueue } from '../../../test/helpers/store-rows.ts';
import type { QueueId } from '../queues.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './open-postgres-store.ts';

const commitNext = (store: Store, id: QueueId, number: number) =>
  store.queues.commitInTurn(id, 1, (changed) => {
    const version = changed?.queue.version ?? 1;
    return aCommit(id, version, { entries: [anEntry(id, number, { version: version + 1 })] });
  });

describe('behind PgBouncer in transaction mode', { skip: withoutPgbouncer }, () => {
  test('a new database is migrated, and two servers read and write it [D35]', async (t) => {
    const direct = await createEmptyDatabase();
    const pooler = await startPgbouncer(t, direct);
    const url = pooler.urlOf(direct);
    const servers = [await openPostgres(t, url), await openPostgres(t, url)] as const;
    const { id } = await storeQueue(servers[0]);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => commitNext(servers[n % 2 === 0 ? 0 : 1], id, n + 1)),
    );
    assert.deepEqual(new Set(answers), new Set(['committed']));
    assert.equal((await servers[1].queues.load(id))?.entries.length, 60);
    const prepared = await query(direct, ['select count(*)::int as n from pg_prepared_statements']);
    assert.equal(prepared[0]?.['n'], 0);
  });

  test('a pooler that is restarted is used again [D35]', async (t) => {
    const direct = await createEmptyDatabase();
    const pooler = await startPgbouncer(t, direct);
    const store = await openPostgres(t, pooler.urlOf(direct));
    const { id } = await storeQueue(store);
    await Promise.all(Array.from({ length: 8 }, () => store.ping()));
    await pooler.restart();
    assert.equal(await commitNext(store, id, 1), 'committed');
    assert.equal(await store.queues.findVersion(id), 2);
  });
});

test('a database without a free connection is asked again, and said to be full in the end [D36]', async (t) => {
  const url = await createEmptyDatabase();
  const store = await openPostgresStore({ url, poolSize: 4 });
  t.after(() => store.close());
  const { id } = await storeQueue(store);
  await Promise.all(Array.from({ length: 4 }, () => store.ping()));
  const [name, role] = [new URL(url).pathname.slice(1), `few_${Date.now()}`];
  await query(url, [
    `create role ${role} login superuser`,
    `alter database ${name} connection limit 2`,
    `alter role ${role} nosuperuser`,
    `grant all on all tables in schema public to ${role}`,
    `grant usage on schema public to ${role}`,
  ]);
  const few = url.replace('postgres@', `${role}@`);
  const limited = await openPostgresStore({ url: few, poolSize: 8, isMigrated: true }).catch((error: unknown) => error);
  assert.ok(isFault('STORE_UNAVAILABLE', /no connection to spare/)(limited));
  await store.close();
  const alone = await openPostgresStore({ url: few, poolSize: 8, isMigrated: true });
  t.after(() => alone.close());
  const versions = await Promise.all(Array.from({ length: 12 }, () => alone.queues.findVersion(id)));
  assert.deepEqual(new Set(versions), new Set([1]));
});
