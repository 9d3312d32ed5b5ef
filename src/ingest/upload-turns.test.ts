import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countedRuns, withIngest } from '../../test/helpers/with-ingest.ts';
import { IngestWorld, junitOf, MINUTE } from '../../test/worlds/shell/ingest-world.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';
import type { Store } from '../storage/store.ts';

/** Every step ends a turn, and every test has a transaction of its own. */
const SHORT = { turnMs: 0, newTestsAtOnce: 1 };
const MANY = 'It brings more than 10 tests that were never seen before';

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `t${index}`);
}

function reportOf(count: number, end = 'pass'): string {
  return junitOf(Object.fromEntries(namesOf(count).map((name) => [name, end])));
}

describe('turns of uploads', () => {
  it('an upload of one test is processed while another organization’s large one is under way [U41]', async () => {
    const store = createMemoryStore();
    const large = await IngestWorld.create(store, SHORT);
    const small = await IngestWorld.create(store);
    // First runs are slow (cold code), and count as used time.
    await large.accept(junitOf({ first: 'pass' }));
    await small.accept(junitOf({ first: 'pass' }));
    await large.loop.runUntilIdle();
    const { id: largeId } = await large.accept(reportOf(200));
    const { id: smallId } = await small.accept(reportOf(1), {}, { receivedAt: large.now + MINUTE });
    const seen = await watchCommits(large, async () => (await store.uploads.find(smallId))?.status);
    assert.ok(seen.includes('PROCESSED'), 'it was processed after the large one');
    assert.equal((await large.find(largeId)).testRuns, 200);
    for (const test of ['t0', 't199']) assert.equal(await large.runs(test), 1);
    assert.equal(await small.runs('t0'), 1);
  });

  it('organizations have equal shares, however many repositories have uploads [U41]', async () => {
    const store = createMemoryStore();
    const ended: string[] = [];
    const crowd = await IngestWorld.create(store, { turnMs: 0, onWorkingOn: (id) => id && ended.push(id) });
    const others = [];
    for (let index = 0; index < 6; index += 1) others.push(await crowd.another());
    for (const other of [crowd, ...others]) await other.accept(reportOf(1));
    const single = await IngestWorld.create(store);
    const { id } = await single.accept(reportOf(1), {}, { receivedAt: crowd.now + MINUTE });
    await crowd.loop.runUntilIdle();
    const order = [...new Set(ended)];
    assert.ok(order.indexOf(id) <= 1, `it came as number ${order.indexOf(id) + 1} of ${order.length}`);
  });

  it('more large uploads than may pause are all processed, and nothing of them twice [U75] [U32]', async () => {
    const store = createMemoryStore();
    const worlds = [await IngestWorld.create(store, SHORT)];
    for (let index = 0; index < 4; index += 1) worlds.push(await IngestWorld.create(store));
    worlds.push(await (worlds[0] as IngestWorld).another());
    const ids = [];
    for (const world of worlds) ids.push((await world.accept(reportOf(25))).id);
    await worlds[0]?.loop.runUntilIdle();
    for (const [index, world] of worlds.entries()) {
      assert.equal((await world.find(ids[index] as string)).testRuns, 25);
      for (const test of namesOf(25)) assert.equal(await world.runs(test), 1, test);
    }
  });

  it('a server that dies while uploads pause loses nothing and counts nothing twice [U75] [U32]', async () => {
    for (const dieAt of [2, 5, 9, 14, 20, 27, 35, 44]) await dieAndGoOn(createMemoryStore(), dieAt);
  });

  it('a loop that stops while uploads pause leaves them to others at once [U75]', async () => {
    const store = createMemoryStore();
    const [one, other] = [await IngestWorld.create(store, SHORT), await IngestWorld.create(store)];
    const ids = [(await one.accept(reportOf(40))).id, (await other.accept(reportOf(40))).id];
    let stopped: Promise<void> | undefined;
    let commits = 0;
    one.restart(
      withIngest(store, ({ commit }) => ({
        commit: (...all) => {
          commits += 1;
          if (commits === 12) stopped = one.loop.stop();
          return commit(...all);
        },
      })),
    );
    one.loop.start();
    while (stopped === undefined) await new Promise((resolve) => setImmediate(resolve));
    await stopped;
    for (const id of ids) assert.equal((await one.find(id)).status, 'ACCEPTED');
    assert.equal((await store.uploadWork.listClaimable('somebody else', one.now, one.now + MINUTE)).length, 2);
    one.restart();
    await one.loop.runUntilIdle();
    for (const world of [one, other]) for (const test of namesOf(40)) assert.equal(await world.runs(test), 1);
  });

  it('nothing pauses while everything stored is replaced [U75]', async () => {
    const store = createMemoryStore();
    const [one, other] = [await IngestWorld.create(store, SHORT), await IngestWorld.create(store)];
    await one.accept(reportOf(40));
    await other.accept(reportOf(40));
    let commits = 0;
    let before = 0;
    let still: Promise<number> | undefined;
    one.restart(
      withIngest(store, ({ commit }) => ({
        commit: (...all) => {
          commits += 1;
          if (commits === 12) {
            still = one.loop.withWritesPaused(async () => {
              before = commits;
              for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
              return commits;
            });
          }
          return commit(...all);
        },
      })),
    );
    one.loop.start();
    while (still === undefined) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await still, before);
    await one.loop.stop();
    one.restart();
    await one.loop.runUntilIdle();
    for (const world of [one, other]) for (const test of namesOf(40)) assert.equal(await world.runs(test), 1);
  });

  it('an upload with too many new tests says so, and is processed behind others [U42]', async () => {
    const store = createMemoryStore();
    const large = await IngestWorld.create(store, { ...SHORT, maxNewTests: 10 });
    const { id } = await large.accept(reportOf(30));
    await large.loop.runUntilIdle();
    const upload = await large.find(id);
    assert.deepEqual([upload.status, upload.testRuns], ['PROCESSED', 30]);
    assert.ok(upload.issues.some(({ message }) => message.startsWith(MANY)));
    const again = await large.upload(Object.fromEntries(namesOf(30).map((test) => [test, 'pass'])));
    assert.ok(!again.issues.some(({ message }) => message.startsWith(MANY)));
  });

  it('a full repository takes in new tests only where they fail, and says so [U43]', async () => {
    const world = await IngestWorld.create(createMemoryStore(), { maxRepositoryTests: 5 });
    await world.upload({ a: 'pass', b: 'pass' });
    const full = await world.upload({ a: 'pass', c: 'pass', d: 'pass', e: 'pass', f: 'pass', g: 'fail', h: 'fail' });
    assert.deepEqual(await world.statuses().then(Object.keys), ['a', 'b', 'c', 'd', 'e', 'g', 'h']);
    assert.deepEqual([full.status, full.testRuns], ['PROCESSED', 6]);
    assert.ok(full.issues.some(({ message }) => message.startsWith('The repository has 5 tests, which is the most')));
    const later = await world.upload({ a: 'fail', f: 'pass' });
    assert.equal(await world.runs('a'), 3);
    assert.equal(later.testRuns, 1);
  });

  it('results of a check are not whole where tests were left out [U43] [V15]', async () => {
    const world = await IngestWorld.create(createMemoryStore(), {
      maxRepositoryTests: 1,
      limits: { runs: 1, text: 9 },
    });
    const of = { candidateId: '00000000-0000-8000-8000-000000000001', check: 'unit' };
    await world.upload({ a: 'pass', b: 'pass', c: 'fail' }, of);
    const results = await world.store.testIngest.findCheckResults(world.repository.id, of.candidateId, of.check);
    assert.equal(results?.isWhole, false);
    assert.match(results?.problem ?? '', /^The repository has 1 tests/);
    assert.equal(results?.failing.length, 1);
  });
});

/** Calls `look` before each commit of the loop. */
async function watchCommits<T>(world: IngestWorld, look: () => Promise<T>): Promise<readonly T[]> {
  const seen: T[] = [];
  world.restart(
    withIngest(world.store, ({ commit }) => ({
      commit: async (change, at) => {
        seen.push(await look());
        return commit(change, at);
      },
    })),
  );
  await world.loop.runUntilIdle();
  return seen;
}

/** The server dies at the given commit of either upload, and loses its memory. */
async function dieAndGoOn(store: Store, dieAt: number): Promise<void> {
  const options = { ...SHORT, limits: { runs: 7, text: 1_000_000 } };
  const [one, other] = [await IngestWorld.create(store, options), await IngestWorld.create(store)];
  const ids = [(await one.accept(reportOf(19))).id, (await other.accept(reportOf(19, 'fail'))).id];
  let commits = 0;
  one.restart(
    withIngest(store, ({ commit }) => ({
      commit: (change, at) => {
        commits += 1;
        // A commit that never returns, as on a dead server.
        return commits >= dieAt ? new Promise(() => undefined) : commit(change, at);
      },
    })),
  );
  void one.loop.runUntilIdle();
  while (commits < dieAt) await new Promise((resolve) => setImmediate(resolve));
  one.restart(store);
  await one.loop.runUntilIdle();
  for (const [index, world] of [one, other].entries()) {
    const upload = await world.find(ids[index] as string);
    assert.deepEqual([upload.status, upload.testRuns], ['PROCESSED', 19], `died at ${dieAt}`);
    for (const test of namesOf(19)) assert.equal(await world.runs(test), 1, `${test}, died at ${dieAt}`);
    const tests = await world.store.tests.search(world.repository.id, '', 100);
    assert.equal(tests.length, 19);
  }
  // A failing test is stored together with all counts of its monitors.
  await one.accept(reportOf(19, 'fail'), { sha: 'b'.repeat(40) });
  await one.loop.runUntilIdle();
  for (const test of namesOf(19)) assert.deepEqual(await countedRuns(one, test), [1, 1], `${test}, died at ${dieAt}`);
}
