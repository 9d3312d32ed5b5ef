import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { startPgbouncer, withoutPgbouncer } from '../../../test/helpers/pgbouncer.ts';
import { createDatabase, createEmptyDatabase, query } from '../../../test/helpers/postgres.ts';
import { storeRepository } from '../../../test/helpers/store-rows.ts';
import { openPostgresStore } from './open-postgres-store.ts';

const LISTENERS = "select pid from pg_stat_activity where query = 'LISTEN sluice' and datname = current_database()";

test('a write is signalled to the other server, again after its connection was lost [D41]', async (t) => {
  const url = await createDatabase();
  const stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, isListening: true })));
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const [one, two] = stores as [(typeof stores)[0], (typeof stores)[0]];
  const heard = new EventEmitter();
  two.signals.listen(() => heard.emit('two'));
  one.signals.listen(() => heard.emit('one'));
  const first = once(heard, 'two');
  await storeRepository(one);
  await first;
  const pollMs = two.signals.pollMs();

  await query(url, [`select pg_terminate_backend(pid) from (${LISTENERS}) as listeners`]);
  // Both listen again, and take it for a signal: some may have been lost meanwhile.
  await Promise.all([once(heard, 'one'), once(heard, 'two')]);
  assert.equal(two.signals.pollMs(), pollMs);
  const second = once(heard, 'one');
  await storeRepository(two);
  await second;
});

test('a server whose connection was lost polls more often [D41]', async (t) => {
  const url = await createDatabase();
  const store = await openPostgresStore({ url, isListening: true });
  t.after(() => store.close());
  const listening = store.signals.pollMs();
  await query(url, [`select pg_terminate_backend(pid) from (${LISTENERS}) as listeners`]);
  while (store.signals.pollMs() >= listening) await new Promise((resolve) => setImmediate(resolve));
});

test('behind PgBouncer nothing listens, and writes are signalled all the same [D41]', {
  skip: withoutPgbouncer,
}, async (t) => {
  const direct = await createEmptyDatabase();
  const pooler = await startPgbouncer(t, direct);
  const pooled = await openPostgresStore({ url: pooler.urlOf(direct), isListening: true });
  t.after(() => pooled.close());
  assert.equal((await query(direct, [LISTENERS])).length, 0);
  const other = await openPostgresStore({ url: direct, isListening: true });
  t.after(() => other.close());
  assert.ok(pooled.signals.pollMs() < other.signals.pollMs());
  const heard = new EventEmitter();
  other.signals.listen(() => heard.emit('signal'));
  const signal = once(heard, 'signal');
  await storeRepository(pooled);
  await signal;
});
