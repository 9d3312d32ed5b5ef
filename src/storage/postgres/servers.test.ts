import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFault } from '../../../test/contract/store-folder.ts';
import { aChange } from '../../../test/contract/store-ingest.ts';
import { anOutcome } from '../../../test/contract/store-uploads.ts';
import { anUpload } from '../../../test/helpers/an-upload.ts';
import { createDatabase, openPostgres, query } from '../../../test/helpers/postgres.ts';
import { startProxy } from '../../../test/helpers/postgres-proxy.ts';
import {
  aCandidate,
  aCommit,
  anEffect,
  anEntry,
  anEvent,
  asStored,
  aTest,
  DAY_MS,
  NOON,
  storeQueue,
  storeRepository,
} from '../../../test/helpers/store-rows.ts';
import { applyResults } from '../../../test/helpers/test-results.ts';
import type { EffectRow, QueueSnapshot, StoredEffect } from '../queues.ts';
import type { Store } from '../store.ts';
import { openPostgresStore } from './open-postgres-store.ts';

/** A test of two stores on one new database. */
function onTwo(name: string, check: (servers: readonly [Store, Store]) => Promise<void>): void {
  test(name, async (t) => {
    const url = await createDatabase();
    await check([await openPostgres(t, url), await openPostgres(t, url)]);
  });
}

describe('two servers on one PostgreSQL', () => {
  onTwo('of their commits from one version exactly one is stored', async ([a, b]) => {
    assert.ok(a.isShared);
    const { id } = await storeQueue(a);
    for (let version = 1; version <= 20; version++) {
      const commits = [a, b, a, b].map(({ queues }, index) =>
        queues.commit(aCommit(id, version, { entries: [anEntry(id, version * 10 + index, { version: version + 1 })] })),
      );
      assert.deepEqual((await Promise.all(commits)).sort(), ['committed', 'stale', 'stale', 'stale']);
    }
    const [ofA, ofB] = [await a.queues.load(id), await b.queues.load(id)];
    assert.equal(ofA?.entries.length, 20);
    assert.deepEqual(ofA, ofB);
  });

  onTwo('commits in turn are all stored, each on what the one before left [D29]', async (servers) => {
    const { id } = await storeQueue(servers[0]);
    const commitOnce = ({ queues }: Store, known: number, index: number) =>
      queues.commitInTurn(id, known, (changed) => {
        const version = changed?.queue.version ?? known;
        return aCommit(id, version, { entries: [anEntry(id, index, { version: version + 1 })] });
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => commitOnce(servers[n % 2 === 0 ? 0 : 1], 1, n + 1)),
    );
    assert.deepEqual(new Set(answers), new Set(['committed']));
    assert.equal((await servers[1].queues.load(id))?.entries.length, 20);
    assert.equal(await servers[0].queues.commitInTurn(id, 1, () => undefined), 'committed');
    await servers[0].queues.delete(id, 21, { at: NOON, by: 'ada' });
    assert.equal(await servers[1].queues.commitInTurn(id, 21, () => assert.fail('nothing to decide')), 'gone');
  });

  test('a server whose network is cut in its turn does not keep the others waiting [D29]', async (t) => {
    const url = await createDatabase();
    const proxy = await startProxy(t, url);
    const [cut, other] = [await openPostgres(t, proxy.url), await openPostgres(t, url)];
    const { id } = await storeQueue(other);
    const frozen = proxy.freezeAfter('for update');
    const decide = (known: number, number: number) => (changed: QueueSnapshot | undefined) => {
      const version = changed?.queue.version ?? known;
      return aCommit(id, version, { entries: [anEntry(id, number, { version: version + 1 })] });
    };
    const late = cut.queues.commitInTurn(id, 1, decide(1, 1));
    await frozen;
    assert.equal(await other.queues.commitInTurn(id, 1, decide(1, 2)), 'committed');
    // It finds out, connects again, and decides on what the other one stored.
    assert.equal(await late, 'committed');
    assert.equal((await other.queues.load(id))?.entries.length, 2);
    assert.equal(await other.queues.findVersion(id), 3);
  });

  onTwo('a load is of one version while the other commits', async ([a, b]) => {
    const { id } = await storeQueue(a);
    let isDone = false;
    const committing = (async () => {
      for (let version = 1; version < 100; version++) {
        await a.queues.commit(aCommit(id, version, { entries: [anEntry(id, version, { version: version + 1 })] }));
      }
      isDone = true;
    })();
    while (!isDone) {
      const loaded = await b.queues.load(id);
      assert.equal(loaded?.entries.length, (loaded?.queue.version ?? 0) - 1);
    }
    await committing;
  });

  onTwo('a target set is not removed while the other names it again', async ([a, b]) => {
    const { id } = await storeQueue(a);
    for (let version = 1; version < 200; version += 2) {
      const set = { digest: `set-${version}`, body: '["a"]' };
      const old = { events: [anEvent(version + 1, { at: DAY_MS })], targetSets: [set] };
      await a.queues.commit(aCommit(id, version, old));
      const again = {
        events: [anEvent(version + 2, { at: 60 * DAY_MS })],
        entries: [anEntry(id, version, { targetsDigest: set.digest })],
        targetSets: [set],
      };
      await Promise.all([
        a.queues.commit(aCommit(id, version + 1, again)),
        b.queues.removeUnusedTargetSets(30 * DAY_MS),
      ]);
      assert.deepEqual(await b.queues.findTargetSet(set.digest), set);
    }
  });

  onTwo('each effect is carried out by one of them, and those of a stream one after the other', async (servers) => {
    const { id } = await storeQueue(servers[0]);
    const effects = Array.from({ length: 120 }, (_, index) => anEffect({ stream: `stream-${Math.floor(index / 10)}` }));
    await servers[0].queues.commit(aCommit(id, 1, { effects }));
    const done: StoredEffect[] = [];
    const running = new Set<string>();
    const work = async ({ effects: outbox }: Store, holder: string) => {
      while (done.length < effects.length) {
        const claimed = await outbox.claim({ holder, now: NOON, leaseUntil: NOON + DAY_MS, limit: 3 });
        for (const { stream } of claimed) {
          assert.ok(!running.has(stream), 'nothing else of its stream is under way');
          running.add(stream);
        }
        for (const effect of claimed) {
          done.push(effect);
          running.delete(effect.stream);
          assert.equal(await outbox.settle(effect, holder, { kind: 'done' }), 'settled');
        }
      }
    };
    await Promise.all(servers.flatMap((server, index) => [work(server, `a${index}`), work(server, `b${index}`)]));
    const inStreams = (all: readonly EffectRow[]) => Map.groupBy(all, ({ stream }) => stream);
    for (const [stream, expected] of inStreams(effects)) {
      assert.deepEqual(
        inStreams(done).get(stream),
        expected.map((effect) => asStored(id, effect)),
      );
    }
    assert.deepEqual(await servers[1].effects.list(id), []);
  });

  onTwo('a lease that one lets expire is taken over by the other, and settled by it alone', async ([a, b]) => {
    const { id } = await storeQueue(a);
    const effect = anEffect();
    await a.queues.commit(aCommit(id, 1, { effects: [effect], candidates: [aCandidate(id, 1)] }));
    assert.equal((await b.queues.load(id))?.candidates.length, 1);
    const claim = { holder: 'a', now: NOON, leaseUntil: NOON + 5, limit: 9 };
    assert.equal((await a.effects.claim(claim)).length, 1);
    assert.equal((await b.effects.claim({ ...claim, holder: 'b' })).length, 0);
    assert.equal(await b.effects.findNextDueAt(), NOON + 5);
    const later = { now: NOON + 5, leaseUntil: NOON + 9, limit: 9 };
    const claims = await Promise.all([b, a, b].map(({ effects }, n) => effects.claim({ ...later, holder: `b${n}` })));
    const holder = `b${claims.findIndex((claimed) => claimed.length === 1)}`;
    assert.equal(claims.flat().length, 1);
    assert.equal(await a.effects.settle({ id: effect.id }, 'a', { kind: 'done' }), 'lost');
    assert.equal(await b.effects.settle({ id: effect.id }, holder, { kind: 'done' }), 'settled');
  });

  onTwo('a log holds all that two servers append, each in its order [D6]', async (servers) => {
    const key = { candidateId: 'c', check: 'unit' };
    const write = async ({ logs }: Store, name: string) => {
      for (let n = 0; n < 60; n++) {
        const line = Buffer.from(`${name} ${n} ${'x'.repeat(n * 30)}\n`);
        if (n % 3 === 0) await logs.append(key, line, NOON);
        else void logs.append(key, line, NOON);
      }
      await logs.append(key, Buffer.from(`${name} 60 \n`), NOON);
    };
    await Promise.all(servers.map((server, index) => write(server, `server-${index}`)));
    const part = await servers[0].logs.read(key, 0, 1_000_000);
    assert.equal(part?.bytes.length, part?.size);
    const lines = Buffer.from(part?.bytes ?? [])
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '));
    for (const name of ['server-0', 'server-1']) {
      const numbers = lines.filter(([server]) => server === name).map(([, number]) => Number(number));
      assert.deepEqual(
        numbers,
        Array.from({ length: 61 }, (_, n) => n),
      );
    }
    assert.equal(lines.length, 122);
  });

  onTwo('a log that the other removes is there from its beginning or not at all', async ([a, b]) => {
    for (let round = 0; round < 60; round++) {
      const key = { candidateId: `c${round}`, check: 'unit' };
      await a.logs.append(key, Buffer.from('old '), 1);
      const [removed] = await Promise.all([b.logs.removeBefore(2), a.logs.append(key, Buffer.from('new'), 3)]);
      const text = Buffer.from((await b.logs.read(key, 0, 99))?.bytes ?? []).toString();
      assert.equal(text, removed === 1 ? 'new' : 'old new');
    }
  });

  onTwo('of removals at once each counts what it removed', async (servers) => {
    for (let n = 0; n < 130; n++) {
      await servers[0].logs.append({ candidateId: `c${n}`, check: 'unit' }, Buffer.from('a'), 1);
    }
    const counts = await Promise.all([...servers, ...servers].map(({ logs }) => logs.removeBefore(2)));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      130,
    );
  });

  test('two servers never work on one repository at once, and each upload is processed once [D8]', async (t) => {
    const url = await createDatabase();
    const servers = [await openPostgres(t, url), await openPostgres(t, url), await openPostgres(t, url)];
    const [first] = servers as [Store, Store, Store];
    const repositories = [await storeRepository(first), await storeRepository(first)];
    for (let n = 0; n < 30; n++) {
      const repositoryId = (repositories[n % 2] as (typeof repositories)[number]).id;
      await first.uploads.create(anUpload(repositoryId, { receivedAt: NOON + n }), 0);
    }
    const working = new Map<string, string>();
    const processed: string[] = [];
    await Promise.all(
      servers.map(async ({ uploadWork }, index) => {
        const holder = `server ${index}`;
        for (;;) {
          const upload = await uploadWork.claim(holder, NOON, NOON + 1000);
          if (upload === undefined) {
            if ((await uploadWork.measure()).waiting === 0) return;
            continue;
          }
          const { id, repositoryId } = upload;
          assert.equal(working.get(repositoryId) ?? holder, holder);
          working.set(repositoryId, holder);
          await uploadWork.finish(anOutcome(id));
          processed.push(id);
          working.delete(repositoryId);
          await uploadWork.release(holder, repositoryId);
        }
      }),
    );
    assert.equal(processed.length, 30);
    assert.equal(new Set(processed).size, 30);
  });

  onTwo('of the same upload sent to several servers at once one is stored', async (servers) => {
    const { id } = await storeRepository(servers[0]);
    for (let round = 1; round <= 5; round++) {
      const made = await Promise.all(
        [...servers, ...servers, ...servers].map(({ uploads }) =>
          uploads.create(anUpload(id, { digest: `${round}` }), 0),
        ),
      );
      assert.equal(new Set(made.map((upload) => upload.id)).size, 1);
      assert.equal(await servers[1].uploads.getWatermark(id), round);
    }
  });

  test('a store for taking in results needs no more than one connection', async (t) => {
    const url = await createDatabase();
    const { id } = await storeRepository(await openPostgres(t, url));
    const ingest = await openPostgresStore({ url, poolSize: 1, isMigrated: true });
    t.after(() => ingest.close());
    const answers = await Promise.all([1, 2, 3].map(() => ingest.testIngest.commit(aChange(id, 0), NOON)));
    assert.deepEqual(
      answers.filter((seq) => seq !== undefined),
      [1],
    );
  });

  onTwo('a reader that sees a watermark sees everything up to it', async ([a, b]) => {
    const { repositoryId } = await storeQueue(a);
    let isDone = false;
    const applying = Promise.all(
      [a, b, a, b].map(async (server) => {
        for (let n = 0; n < 20; n++) {
          await applyResults(server, { repositoryId, tests: [aTest(repositoryId)], runs: [] });
        }
      }),
    ).then(() => {
      isDone = true;
    });
    while (!isDone) {
      const watermark = await b.tests.getWatermark(repositoryId);
      const page = { repositoryId, watermark, offset: 0, limit: 1, status: 'HEALTHY' as const };
      assert.equal((await a.tests.listByStatus(page)).totalRows, watermark);
    }
    await applying;
    assert.equal(await a.tests.getWatermark(repositoryId), 80);
  });
});

test('a server goes on while a newer version migrates the database, and is refused when it starts again [D37]', async (t) => {
  const url = await createDatabase();
  const old = await openPostgres(t, url);
  const { id } = await storeQueue(old);
  assert.equal(await old.queues.commit(aCommit(id, 1, { entries: [anEntry(id, 1, { version: 2 })] })), 'committed');
  assert.equal((await old.queues.load(id))?.entries.length, 1);
  await query(url, [
    'create table things (id text primary key)',
    'alter table queues add column note text',
    'alter table entries add column note text',
    "insert into migrations select max(version) + 1, 'newer', 0 from migrations",
  ]);
  const loads = Array.from({ length: 8 }, () => old.queues.load(id));
  assert.deepEqual(new Set((await Promise.all(loads)).map((loaded) => loaded?.entries.length)), new Set([1]));
  const next = aCommit(id, 2, { entries: [anEntry(id, 2, { version: 3 })] });
  assert.equal(await old.queues.commitInTurn(id, 2, () => next), 'committed');
  await assert.rejects(openPostgresStore({ url }), isFault('STORE_TOO_NEW', /this Sluice knows versions up to/));
  assert.equal((await old.queues.load(id))?.entries.length, 2);
});

describe('a PostgreSQL that goes away', () => {
  test('and comes back is used again', async (t) => {
    const url = await createDatabase();
    const proxy = await startProxy(t, url);
    const store = await openPostgres(t, proxy.url);
    const { id } = await storeQueue(store);
    await proxy.stop();
    const refusal = isFault('STORE_UNAVAILABLE', /^PostgreSQL at .* cannot be used: /);
    await assert.rejects(store.ping(), refusal);
    await assert.rejects(store.queues.commit(aCommit(id, 1)), refusal);
    await proxy.start();
    await store.ping();
    assert.equal(await store.queues.commit(aCommit(id, 1)), 'committed');
  });

  test('ends connections without harm', async (t) => {
    const url = await createDatabase();
    const store = await openPostgres(t, url);
    const { id } = await storeQueue(store);
    await Promise.all(Array.from({ length: 8 }, () => store.ping()));
    await query(url, [
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    ]);
    assert.deepEqual(await Promise.all(Array.from({ length: 4 }, () => store.queues.findVersion(id))), [1, 1, 1, 1]);
    assert.equal(await store.queues.commit(aCommit(id, 1)), 'committed');
  });

  test('during a commit is asked what became of it', async (t) => {
    const url = await createDatabase();
    const proxy = await startProxy(t, url);
    const store = await openPostgres(t, proxy.url);
    const { id } = await storeQueue(store);
    const atCommit = proxy.cutAfter('COMMIT');
    assert.equal(await store.queues.commit(aCommit(id, 1)), 'committed');
    await atCommit;
    assert.equal(await store.queues.findVersion(id), 2);
    const atBegin = proxy.cutAfter('BEGIN');
    assert.equal(await store.queues.commit(aCommit(id, 2)), 'committed');
    await atBegin;
    assert.equal((await store.queueRecords.listEvents(id, 0, 9)).length, 3);
  });

  test('is told of without its password', async () => {
    const secret = 'sesame-open';
    const urls = {
      [`postgres://user:${secret}@127.0.0.1:1/none`]: /127\.0\.0\.1:1.*nothing listens there/,
      [`postgres://user:${secret}@host.invalid/none`]: /its name is not known/,
      [`postgres://user:${secret}@[broken/none`]: /cannot be understood/,
      [(await createDatabase()).replace(/test_\d+/, 'missing')]: /no such database/,
    };
    for (const [url, reason] of Object.entries(urls)) {
      await assert.rejects(openPostgresStore({ url }), (error: Error) => {
        assert.ok(!JSON.stringify([error.message, error.stack, error]).includes(secret));
        return isFault('STORE_UNAVAILABLE', reason)(error);
      });
    }
  });
});
