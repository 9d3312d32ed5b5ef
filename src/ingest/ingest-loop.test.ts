import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeForEach } from '../../test/helpers/made.ts';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { countedRuns, withIngest } from '../../test/helpers/with-ingest.ts';
import { DAY, IngestWorld, junitOf, MINUTE } from '../../test/worlds/shell/ingest-world.ts';
import { Fault } from '../lib/fault.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';
import { createIngestLoop } from './ingest-loop.ts';

const world = madeForEach(() => IngestWorld.create(createMemoryStore()));

describe('the loop that processes uploads', () => {
  it('keeps an upload while the store is away, and counts it once [U34]', async () => {
    let faults = 2;
    world.restart(
      withIngest(world.store, ({ commit }) => ({
        commit: (...all) => {
          faults -= 1;
          return faults < 0 ? commit(...all) : Promise.reject(new Fault('STORE_UNAVAILABLE', 'The disk is full.'));
        },
      })),
    );
    const upload = await world.upload({ one: 'pass' });
    assert.equal(upload.status, 'ACCEPTED');
    assert.equal(upload.trouble, 'The disk is full.');
    await world.pass(2 * MINUTE);
    await world.pass(2 * MINUTE);
    const ended = await world.find(upload.id);
    assert.equal(ended.status, 'PROCESSED');
    assert.equal(ended.trouble, null);
    assert.equal(await world.runs('one'), 1);
  });

  it('gives an upload up that it cannot process three times over, and goes on with those behind it [U74]', async () => {
    const bad = await world.accept(junitOf({ one: 'pass' }));
    const good = await world.accept(junitOf({ two: 'pass' }), { sha: 'b'.repeat(40) });
    const errors: string[] = [];
    world.log = { ...silentLog, error: (_facts, text) => errors.push(text) };
    world.restart(
      withIngest(world.store, ({ commit }) => ({
        commit: (change, at) => {
          if (change.upload?.uploadId === bad.id) throw new TypeError('a mistake');
          return commit(change, at);
        },
      })),
    );
    for (let tries = 0; tries < 4; tries += 1) await world.pass(MINUTE);
    const failed = await world.find(bad.id);
    assert.equal(failed.status, 'FAILED');
    assert.match(failed.issues[0]?.message ?? '', /mistake of Sluice/);
    assert.equal((await world.find(good.id)).status, 'PROCESSED');
    assert.equal(errors.length, 3);
  });

  it('says that results are missing where it gives up an upload that a check waits for [U74]', async () => {
    const tie = { candidateId: 'c-1', check: 'unit' };
    await world.upload({ one: 'pass' }, tie);
    const results = () => world.store.testIngest.findCheckResults(world.repository.id, 'c-1', 'unit');
    assert.equal((await results())?.isWhole, true);
    // The other half of the check's results, with a failure.
    const bad = await world.accept(junitOf({ two: 'fail' }), tie);
    const told: string[] = [];
    world.restart(
      withIngest(world.store, ({ commit }) => ({
        commit: (change, at) => {
          if (change.batch !== undefined) throw new TypeError('a mistake');
          return commit(change, at);
        },
      })),
    );
    world.loop.onCheckResults(({ check }) => told.push(check));
    for (let tries = 0; tries < 4; tries += 1) await world.pass(MINUTE);
    assert.equal((await world.find(bad.id)).status, 'FAILED');
    const left = await results();
    assert.equal(left?.isWhole, false);
    assert.match(left?.problem ?? '', /mistake of Sluice/);
    assert.deepEqual(told, ['unit']);
  });

  it('lets every repository in, however many uploads of another wait', async () => {
    const store = createMemoryStore();
    const begun: string[] = [];
    const crowd = await IngestWorld.create(store, { turnMs: 0, onWorkingOn: (id) => id && begun.push(id) });
    const other = await IngestWorld.create(store);
    const many: string[] = [];
    for (let index = 0; index < 5; index += 1) many.push((await crowd.accept(junitOf({ one: 'pass' }))).id);
    other.now += MINUTE;
    const { id: single } = await other.accept(junitOf({ one: 'pass' }));
    crowd.now += MINUTE;
    await crowd.loop.runUntilIdle();
    assert.deepEqual([...new Set(begun)], [many[0], single, ...many.slice(1)]);
  });

  it('reads an upload again when it is told to, and counts nothing twice [U37]', async () => {
    const upload = await world.upload({ one: 'pass' });
    assert.equal(await world.store.uploads.processAgain(upload.id), true);
    await world.pass(MINUTE);
    const again = await world.find(upload.id);
    assert.deepEqual([again.status, again.testRuns, again.processedAt], ['PROCESSED', 1, world.now]);
    assert.equal(await world.runs('one'), 1);
  });

  it('adds what it did not find before when it reads an upload again [U37]', async () => {
    const upload = await world.upload({ one: 'pass', two: 'pass pass' });
    // Simulates an older reader that did not see the rest.
    await world.store.uploadBodies.remove(upload.bodyId ?? '');
    const better = Buffer.from(junitOf({ one: 'pass', two: 'pass pass fail', three: 'fail' }));
    await world.store.uploadBodies.append(upload.bodyId ?? '', 0, better, world.now);
    for (let times = 0; times < 2; times += 1) {
      assert.equal(await world.store.uploads.processAgain(upload.id), true);
      await world.pass(MINUTE);
      assert.equal((await world.find(upload.id)).testRuns, 5);
      const counts = [await world.runs('one'), await world.runs('two'), await world.runs('three')];
      assert.deepEqual(counts, [1, 3, 1]);
    }
  });

  it('processes nothing while everything stored is replaced', async () => {
    await world.accept(junitOf({ one: 'pass' }));
    world.loop.start();
    const release = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const still = world.loop.withWritesPaused(async () => {
      begun.resolve();
      await release.promise;
      return world.store.uploadWork.measure();
    });
    await begun.promise;
    const late = await world.accept(junitOf({ two: 'pass' }));
    world.loop.wake();
    const before = await world.store.uploadWork.measure();
    release.resolve();
    assert.deepEqual(await still, before);
    await until(async () => (await world.find(late.id)).status === 'PROCESSED');
    await world.loop.stop();
  });

  it('leaves a large upload when it is stopped, and goes on with it later', async () => {
    world.configure({ limits: { runs: 2, text: 1_000_000 } });
    const names = Array.from({ length: 40 }, (_, index) => `t${index}`);
    const { id } = await world.accept(junitOf(Object.fromEntries(names.map((test) => [test, 'pass']))));
    let stopped: Promise<void> | undefined;
    world.restart(
      withIngest(world.store, ({ commit }) => ({
        commit: (...all) => {
          stopped ??= world.loop.stop();
          return commit(...all);
        },
      })),
    );
    world.loop.start();
    await until(async () => stopped !== undefined);
    await stopped;
    const left = await world.find(id);
    assert.equal(left.status, 'ACCEPTED');
    assert.equal(left.partsDone, 1);
    world.restart();
    await world.loop.runUntilIdle();
    assert.equal((await world.find(id)).testRuns, 40);
    for (const test of names.slice(0, 5)) assert.equal(await world.runs(test), 1);
  });

  it('stores the memories of what piles up, and finds all of it afterwards [U35]', async () => {
    for (let index = 0; index < 130; index += 1) {
      await world.accept(junitOf({ one: 'pass', two: 'pass' }), { sha: String(index).padStart(40, '0') });
    }
    await world.loop.runUntilIdle();
    const waiting = await world.store.testIngest.measureUncounted(world.repository.id);
    assert.ok(waiting.batches < 64, `${waiting.batches} batches`);
    assert.equal(await world.runs('one'), 130);
    await world.pass(2 * MINUTE);
    await world.pass(2 * MINUTE);
    const none = await world.store.testIngest.measureUncounted(world.repository.id);
    assert.equal(none.batches, 0);
    assert.equal(await world.runs('two'), 130);
  });

  it('keeps no more tests in memory than it may', async () => {
    world.configure({ maxTests: 2 });
    for (const sha of ['1', '2', '3']) {
      await world.upload({ a: 'pass', b: 'pass', c: 'pass', d: 'pass' }, { sha: sha.repeat(40) });
    }
    await world.upload({ a: 'fail' }, { sha: '3'.repeat(40) });
    assert.equal((await world.test('a')).status, 'FLAKY');
    assert.equal(await world.runs('b'), 3);
  });

  it('does not take in what waits to be counted in all repositories at once after a start', async () => {
    const store = createMemoryStore();
    const worlds: IngestWorld[] = [];
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`t${index}`, 'pass']));
    for (let index = 0; index < 4; index += 1) {
      const each = await IngestWorld.create(store, { maxTests: 3 });
      await each.accept(junitOf(many));
      worlds.push(each);
    }
    const [first] = worlds as [IngestWorld];
    await createIngestLoop(store, first.clock, silentLog).runUntilIdle();
    const batches = async () => {
      const all = await Promise.all(worlds.map(({ repository }) => store.testIngest.measureUncounted(repository.id)));
      return all.reduce((sum, each) => sum + each.batches, 0);
    };
    assert.equal(await batches(), 4);
    first.restart();
    await first.pass(MINUTE + 1);
    assert.equal(await batches(), 0);
    for (const each of worlds) assert.equal(await each.runs('t7'), 1);
  });

  it('loses no runs that another server stores while it looks at a repository for the first time [U32]', async () => {
    world.configure({ holder: 'one' });
    await world.upload({ one: 'pass' });
    let isFirst = true;
    const other = createIngestLoop(
      withIngest(world.store, ({ listUncounted }) => ({
        listUncounted: async (...all) => {
          const batches = await listUncounted(...all);
          if (!isFirst) return batches;
          isFirst = false;
          await world.upload({ one: 'pass' }, { sha: 'b'.repeat(40) });
          return batches;
        },
      })),
      world.clock,
      silentLog,
      { holder: 'other' },
    );
    for (let times = 0; times < 3; times += 1) {
      world.now += 2 * MINUTE;
      await other.runUntilIdle();
    }
    assert.equal(isFirst, false);
    assert.equal((await world.store.testIngest.measureUncounted(world.repository.id)).batches, 0);
    assert.equal(await world.runs('one'), 2);
    assert.deepEqual(await countedRuns(world, 'one'), [2, 0]);
  });

  it('keeps what is stored of a large upload that it gives up, also when it is processed again [U74] [U37]', async () => {
    world.configure({ limits: { runs: 2, text: 1_000_000 } });
    const names = Array.from({ length: 8 }, (_, index) => `t${index}`);
    const { id } = await world.accept(junitOf(Object.fromEntries(names.map((test) => [test, 'pass']))));
    // Each attempt stores one more part before it fails.
    let isStored = false;
    world.restart(
      withIngest(world.store, ({ commit }) => ({
        commit: (...all) => {
          isStored = !isStored;
          if (!isStored) throw new TypeError('a mistake');
          return commit(...all);
        },
      })),
    );
    for (let tries = 0; tries < 4; tries += 1) await world.pass(MINUTE);
    const left = await world.find(id);
    assert.deepEqual([left.status, left.partsDone, left.testRuns], ['PROCESSED', 3, 6]);
    world.restart();
    assert.equal(await world.store.uploads.processAgain(id), true);
    await world.pass(MINUTE);
    assert.equal((await world.find(id)).testRuns, 8);
    for (const test of names) assert.equal(await world.runs(test), 1);
  });

  it('keeps no more tests in memory than it may, also of one large upload', async () => {
    world.configure({ maxTests: 10, limits: { runs: 5, text: 1_000_000 } });
    const names = Array.from({ length: 60 }, (_, index) => `t${index}`);
    let drops = 0;
    world.restart(
      withIngest(world.store, ({ markCounted }) => ({
        markCounted: (...all) => {
          drops += 1;
          return markCounted(...all);
        },
      })),
    );
    await world.upload(Object.fromEntries(names.map((test) => [test, 'pass'])));
    assert.ok(drops >= 4, `stored ${drops} times`);
    for (const test of names) assert.equal(await world.runs(test), 1);
  });

  it('stores many new tests in short steps, and each of them once however that ends [U71] [U32]', async () => {
    world.configure({ newTestsAtOnce: 10 });
    const names = Array.from({ length: 45 }, (_, index) => `t${index}`);
    const report = Object.fromEntries(names.map((test, index) => [test, index % 9 === 0 ? 'fail' : 'pass']));
    const { id } = await world.accept(junitOf(report));
    const sizes: number[] = [];
    world.restart(
      withIngest(world.store, ({ commit }) => ({
        commit: (change, at) => {
          sizes.push(change.tests.length, change.memories.length);
          if (sizes.length === 6) throw new TypeError('a mistake');
          return commit(change, at);
        },
      })),
    );
    await world.pass(MINUTE);
    await world.pass(MINUTE);
    assert.equal((await world.find(id)).testRuns, 45);
    assert.ok(Math.max(...sizes) <= 10, sizes.join());
    for (const test of names) assert.equal(await world.runs(test), 1);
    assert.equal((await world.store.tests.search(world.repository.id, '', 100)).length, 45);
    await world.upload({ t0: 'pass', t1: 'fail' });
    assert.deepEqual([(await world.test('t0')).status, (await world.test('t1')).status], ['FLAKY', 'FLAKY']);
  });

  it('forgets results and uploads when their time is over [U36]', async () => {
    const upload = await world.upload({ one: 'pass', two: 'fail' });
    await world.pass(2 * MINUTE);
    await world.pass(8 * DAY);
    assert.equal((await world.find(upload.id)).bodyId, null);
    assert.equal(await world.runs('one'), 1);
    await world.pass(38 * DAY);
    assert.deepEqual(await world.statuses(), {});
    assert.equal(await world.store.uploads.find(upload.id), undefined);
    await world.upload({ one: 'pass' });
    assert.equal(await world.runs('one'), 1);
  });

  it('ends an override when its time has come', async () => {
    await world.upload({ one: 'pass' });
    const { testIngest } = world.store;
    const { seq, known } = await testIngest.load(world.repository.id, [(await world.test('one')).id]);
    const [test] = known;
    assert.ok(test !== undefined);
    const expiresAt = world.now + DAY;
    const override = { actor: 'ann', at: world.now, reason: 'busy', expiresAt };
    await testIngest.commit(
      {
        repositoryId: world.repository.id,
        expectedSeq: seq,
        tests: [{ ...test.test, quarantineOverride: 'ALWAYS_QUARANTINE', override, quarantinedAt: world.now }],
        memories: [{ ...test.memory, nextCheckAt: expiresAt }],
        failures: [],
        events: [],
      },
      world.now,
    );
    await world.upload({ one: 'pass' }, { sha: 'b'.repeat(40) });
    assert.notEqual((await world.test('one')).quarantinedAt, null);
    await world.pass(DAY);
    const ended = await world.test('one');
    assert.deepEqual([ended.quarantinedAt, ended.quarantineOverride, ended.override], [null, 'UNSPECIFIED', null]);
    assert.deepEqual((await world.events('one')).slice(-2), ['override_expired', 'quarantine_changed']);
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, 'it did not happen in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
