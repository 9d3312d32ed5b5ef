import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../../../test/contract/store-folder.ts';
import { openPostgres, query, startOwnPostgres } from '../../../test/helpers/postgres.ts';
import { startProxy } from '../../../test/helpers/postgres-proxy.ts';
import { startStandby } from '../../../test/helpers/postgres-standby.ts';
import { aCommit, storeQueue } from '../../../test/helpers/store-rows.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './open-postgres-store.ts';

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('of a primary and a standby the one that takes writes is used, before and after a failover [D33] [D34]', async (t) => {
  const primary = await startOwnPostgres();
  const url = await primary.createDatabase();
  const name = new URL(url).pathname.slice(1);
  const standby = await startStandby(t, primary);
  const [first, second] = [await startProxy(t, url), await startProxy(t, standby.urlOf(name))];
  const hosts = [first, second].map((proxy) => new URL(proxy.url).host);
  const urlOf = (order: readonly (string | undefined)[]) => `postgres://postgres@${order.join(',')}/${name}`;

  const refusal = isFault('STORE_UNAVAILABLE', /cannot be used: it only allows reading\.$/);
  await assert.rejects(openPostgresStore({ url: second.url }), refusal);
  // The standby comes first in the URL, and lags: nothing is read from it.
  const store: Store = await openPostgres(t, urlOf([...hosts].reverse()));
  const { id } = await storeQueue(store);
  await query(standby.urlOf(name), ['select pg_wal_replay_pause()']);
  assert.equal(await store.queues.commit(aCommit(id, 1)), 'committed');
  assert.equal(await store.queues.findVersion(id), 2);
  await query(standby.urlOf(name), ['select pg_wal_replay_resume()']);
  const replayed = () => query(standby.urlOf(name), [`select version::int as v from queues where id = '${id}'`]);
  await until(async () => (await replayed())[0]?.['v'] === 2);

  // COMMIT reaches the primary, which ends before it answers: what the standby knows is not about this transaction.
  // A killed server may accept one more connection, on which the store would learn that it is stored.
  const atCommit = first.cutAfter('COMMIT', () => {
    standby.killPrimary();
    void first.stop();
  });
  const lost = store.queues.commit(aCommit(id, 2));
  await atCommit;
  await assert.rejects(lost, isFault('STORE_UNAVAILABLE', /.*/));
  await assert.rejects(store.ping(), isFault('STORE_UNAVAILABLE', /.*/));
  await standby.promote();
  await until(() =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
  const version = (await store.queues.findVersion(id)) as number;
  assert.ok(version === 2 || version === 3, `${version}`);
  assert.equal(await store.queues.commit(aCommit(id, version)), 'committed');
  assert.equal((await query(standby.urlOf(name), ['select pg_is_in_recovery() as standby']))[0]?.['standby'], false);
});
