import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import fc from 'fast-check';
import { createStoreTests, type StoreTests } from '../../../test/contract/store-fixture.ts';
import { aChange, aMemory, aStoredFailure, aStoredRun, facts } from '../../../test/contract/store-ingest.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { createDatabase } from '../../../test/helpers/postgres.ts';
import { aTest, DAY_MS, NOON, storeRepository } from '../../../test/helpers/store-rows.ts';
import { countRuns, dayOf, sumCounts } from '../../flaky/daily-counts.ts';
import { openPostgresStore } from '../postgres/open-postgres-store.ts';
import type { RepositoryId } from '../repositories.ts';
import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';
import type { Store } from '../store.ts';
import type { StoredRun, TestMemory } from '../test-ingest.ts';
import { type RankedTestsQuery, TEST_ORDERS, type TestOrder, type TestRow } from '../tests.ts';

const ANY = { order: 'PULL_REQUESTS', status: null, isQuarantined: null, owner: null, text: null } as const;
const FIRST = { offset: 0, limit: 100 };

for (const [name, open] of Object.entries({ SQLite: openSqlite, PostgreSQL: openPostgres })) {
  describe(`figures of tests: ${name}`, () => {
    let opened: { readonly store: Store; close(): Promise<void> };
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());
    const tests = createStoreTests(() => opened.store);
    countedPromises(tests);
    foundPromises(tests);
    pastPromises(tests);
    anyPromises(tests);
  });
}

async function openSqlite() {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-figures-'));
  const store = await openSqliteStore({ directory });
  const close = () => store.close().then(() => rm(directory, { recursive: true }));
  return { store, close };
}

async function openPostgres() {
  const store = await openPostgresStore({ url: await createDatabase() });
  return { store, close: () => store.close() };
}

/** Stores runs of tests as the ingest does where nothing waits to be counted. */
class Filler {
  readonly store: Store;
  readonly id: RepositoryId;
  readonly rows: TestRow[] = [];
  seq = 0;
  readonly #storedSeqs = new Map<number, number>();

  constructor(store: Store, id: RepositoryId) {
    this.store = store;
    this.id = id;
  }

  async add(tests: readonly Partial<TestRow>[]): Promise<readonly TestRow[]> {
    const added = tests.map((values, index) => aTest(this.id, { no: this.rows.length + index + 1, ...values }));
    await this.commit({ tests: added, memories: added.map(({ no }) => aMemory(no, { seq: this.seq + 1 })) });
    this.rows.push(...added);
    for (const { no } of added) this.#storedSeqs.set(no, this.seq);
    return added;
  }

  async commit(values: Parameters<typeof aChange>[2], at = NOON): Promise<void> {
    const seq = await this.store.testIngest.commit(aChange(this.id, this.seq, values), at);
    assert.equal(seq, this.seq + 1);
    this.seq = seq;
  }

  /** `counted`: whether the memories that count the runs are stored with them. */
  async run(runs: readonly StoredRun[], of: { at?: number; prNumber?: number; isCounted?: boolean } = {}) {
    const { at = NOON, prNumber = null, isCounted = true } = of;
    const failures = runs
      .filter(({ conclusion }) => conclusion === 'FAILURE')
      .map(({ testNo, startedAt }) =>
        aStoredFailure(this.rows[testNo - 1] as TestRow, { startedAt, isBlocking: prNumber !== null }),
      );
    const memories = isCounted ? this.count(runs, at, this.seq + 1) : [];
    await this.commit({ batch: { facts: facts({ prNumber }), runs }, failures, memories }, at);
  }

  /** The memories that count these runs, and all before. */
  count(runs: readonly StoredRun[], at: number, seq: number): TestMemory[] {
    return [...Map.groupBy(runs, ({ testNo }) => testNo)].map(([testNo, own]) => {
      const failed = own.filter(({ conclusion }) => conclusion === 'FAILURE').map(({ startedAt }) => startedAt);
      const lastFailureAt = failed.length === 0 ? null : Math.min(at, Math.max(...failed));
      const afterSeq = this.#storedSeqs.get(testNo) ?? 0;
      this.#storedSeqs.set(testNo, seq);
      return aMemory(testNo, { seq, counted: { days: countRuns(own, at), lastFailureAt, afterSeq } });
    });
  }

  rank(query: Partial<RankedTestsQuery> = {}) {
    return this.store.tests.rank({ repositoryId: this.id, ...ANY, ...FIRST, ...query });
  }

  async numbers(query: Partial<RankedTestsQuery> = {}): Promise<readonly number[]> {
    return (await this.rank(query)).tests.map(({ test }) => test.no);
  }
}

const fail = (testNo: number, values: Partial<StoredRun> = {}) =>
  aStoredRun(testNo, { conclusion: 'FAILURE', ...values });

function countedPromises({ inRepository }: StoreTests): void {
  inRepository('tests without runs are listed by number, and have no figures [F60]', async ({ store, id }) => {
    const filler = new Filler(store, id);
    assert.deepEqual(await filler.rank(), { totalRows: 0, tests: [] });
    await filler.add([{}, {}]);
    for (const order of TEST_ORDERS) assert.deepEqual(await filler.numbers({ order }), [1, 2]);
    const [ranked] = (await filler.rank()).tests;
    assert.deepEqual([ranked?.days, ranked?.pullRequests, ranked?.lastFailureAt], [[], 0, null]);
  });

  inRepository('every order has its figure, the largest first [F60]', async ({ store, id }) => {
    const filler = new Filler(store, id);
    await filler.add([{}, {}, {}, {}]);
    const passes = Array.from({ length: 7 }, () => aStoredRun(2, { durationMs: 3 }));
    await filler.run([fail(2), fail(2), fail(2), ...passes, aStoredRun(4, { durationMs: 900 })], { prNumber: 1 });
    await filler.run([fail(3, { startedAt: NOON - DAY_MS })], { prNumber: 1 });
    await filler.run([fail(3, { startedAt: NOON - DAY_MS })], { prNumber: 2 });
    await filler.run([fail(3, { startedAt: NOON - DAY_MS })], { prNumber: 2 });
    const orders: Record<TestOrder, readonly number[]> = {
      PULL_REQUESTS: [3, 2, 1, 4],
      FAILURES: [2, 3, 1, 4],
      FAILURE_RATE: [3, 2, 1, 4],
      DURATION: [4, 2, 3, 1],
      LAST_FAILURE: [2, 3, 1, 4],
    };
    for (const order of TEST_ORDERS) assert.deepEqual(await filler.numbers({ order }), orders[order], order);
    const { tests } = await filler.rank();
    assert.deepEqual(pluck(tests, 'pullRequests'), [2, 1, 0, 0]);
    assert.equal(tests[0]?.lastFailureAt, NOON - DAY_MS);
    assert.deepEqual(sumCounts(tests[1]?.days ?? []), { runs: 10, failures: 3, durationMs: (21 + 3 * 1.5) / 10 });
  });

  inRepository('runs that are not counted yet are in the figures, and count once [F62]', async ({ store, id }) => {
    const filler = new Filler(store, id);
    await filler.add([{}]);
    const runs = async () => sumCounts((await filler.rank()).tests[0]?.days ?? []).runs;
    await filler.run([aStoredRun(1), aStoredRun(1)], { isCounted: false });
    await filler.run([aStoredRun(1)], { isCounted: false });
    assert.equal(await runs(), 3);
    const { days } = (await filler.rank()).tests[0] ?? { days: [] };
    const memories = [aMemory(1, { seq: filler.seq, counted: { days, lastFailureAt: null, afterSeq: 1 } })];
    const slice = { repositoryId: id, expectedSeq: filler.seq, memories };
    assert.equal(await store.testIngest.storeMemories(slice), true);
    assert.equal(await runs(), 3);
    assert.equal(await store.testIngest.storeMemories(slice), false, 'another server has counted them');
    await store.testIngest.markCounted(id, filler.seq);
    assert.equal(await runs(), 3);
  });
}

function foundPromises({ inRepository, inStore }: StoreTests): void {
  inRepository('filters narrow the list, and its pages count what they find [F60]', async ({ store, id }) => {
    const filler = new Filler(store, id);
    const at = { quarantinedAt: NOON };
    await filler.add([
      { name: 'adds 100%', status: 'FLAKY', codeowners: ['@a', '@b', '@a'] },
      { name: 'ADDS_more', status: 'BROKEN', codeowners: ['@a'] },
      { name: 'subtracts', codeowners: [], ...at },
      { name: 'subtracts', status: 'FLAKY', codeowners: ['@b'], ...at },
      { name: 'other', codeowners: ["'; -- %", '"\\'] },
    ]);
    const counts = [{ repositoryId: id, all: 5, flaky: 2, broken: 1 }];
    assert.deepEqual(await store.tests.countByStatus([id, id]), counts);
    const cases: readonly (readonly [Partial<RankedTestsQuery>, readonly number[]])[] = [
      [{ status: 'FLAKY' }, [1, 4]],
      [{ status: 'HEALTHY' }, [3, 5]],
      [{ isQuarantined: true }, [3, 4]],
      [{ isQuarantined: false }, [1, 2, 5]],
      [{ status: 'HEALTHY', isQuarantined: false }, [5]],
      [{ status: 'HEALTHY', isQuarantined: true }, [3]],
      [{ status: 'FLAKY', isQuarantined: false }, [1]],
      [{ owner: '@a' }, [1, 2]],
      [{ owner: '@A' }, []],
      [{ owner: '@b', status: 'FLAKY', isQuarantined: true }, [4]],
      [{ owner: "'; -- %" }, [5]],
      [{ owner: '"\\' }, [5]],
      [{ owner: 'a\0' }, []],
      [{ text: 'Adds' }, [1, 2]],
      [{ text: '0%' }, [1]],
      [{ text: 's_m' }, [2]],
      [{ text: 'adds', owner: '@b' }, [1]],
      [{ text: 'TRACT', status: 'HEALTHY' }, [3]],
      [{ text: 'a\0' }, []],
      [{ text: "'" }, []],
    ];
    for (const [query, found] of cases) {
      assert.deepEqual(await filler.numbers(query), found, JSON.stringify(query));
      assert.equal((await filler.rank({ ...query, limit: 1 })).totalRows, found.length, JSON.stringify(query));
      assert.deepEqual(await filler.numbers({ ...query, offset: 1, limit: 1 }), found.slice(1, 2));
    }
    assert.deepEqual(await filler.rank({ offset: 9 }), { totalRows: 5, tests: [] });
  });

  inRepository('a test is found by the status and the quarantine that it has now', async ({ store, id }) => {
    const filler = new Filler(store, id);
    const [row] = (await filler.add([{ status: 'BROKEN' }, {}])) as [TestRow];
    await filler.run([fail(1)]);
    await filler.commit({ tests: [{ ...row, status: 'FLAKY', quarantinedAt: NOON }] });
    const statuses = ['HEALTHY', 'FLAKY', 'BROKEN'] as const;
    const found = await Promise.all(statuses.map((status) => filler.numbers({ status })));
    assert.deepEqual(found, [[2], [1], []]);
    assert.deepEqual(await filler.numbers({ isQuarantined: true }), [1]);
    await filler.commit({ tests: [{ ...row, status: 'HEALTHY' }] });
    assert.deepEqual(await filler.numbers({ status: 'HEALTHY', isQuarantined: false }), [1, 2]);
    assert.equal(sumCounts((await filler.rank()).tests[0]?.days ?? []).failures, 1);
  });

  inRepository('a test is found by the owners that it has now', async ({ store, id }) => {
    const filler = new Filler(store, id);
    const [row] = (await filler.add([{ codeowners: ['@a', '@b'] }])) as [TestRow];
    await filler.commit({ tests: [{ ...row, codeowners: ['@b', '@c'] }] });
    const found = await Promise.all(['@a', '@b', '@c'].map((owner) => filler.numbers({ owner })));
    assert.deepEqual(found, [[], [1], [1]]);
  });

  inStore('what many tests have in common is found along the order', async ({ store }) => {
    const { id } = await storeRepository(store);
    const other = new Filler(store, (await storeRepository(store)).id);
    const filler = new Filler(store, id);
    await other.add([{ codeowners: ['@all'] }]);
    const many = Array.from({ length: 5_050 }, (_, index) => ({
      name: `case ${index}`,
      codeowners: index === 7 ? [] : ['@all'],
    }));
    await filler.add(many);
    await filler.run([fail(5_000), fail(8), fail(9), fail(9)]);
    const common = { order: 'FAILURES', limit: 3 } as const;
    assert.deepEqual(await filler.numbers({ ...common, owner: '@all' }), [9, 5_000, 1]);
    assert.deepEqual(await filler.numbers({ ...common, text: 'case' }), [9, 8, 5_000]);
    assert.equal((await filler.rank({ ...common, owner: '@all' })).totalRows, 5_049);
    assert.equal((await filler.rank({ ...common, text: 'case' })).totalRows, 5_050);
    await filler.commit({ tests: [{ ...(filler.rows[8] as TestRow), status: 'FLAKY', quarantinedAt: NOON }] });
    for (const marks of [{ status: 'HEALTHY' }, { isQuarantined: false }] as const) {
      const { totalRows, tests } = await filler.rank({ ...common, text: 'case', ...marks });
      assert.deepEqual([totalRows, tests.map(({ test }) => test.no)], [5_049, [8, 5_000, 1]]);
    }
    assert.deepEqual(await filler.numbers({ ...common, owner: '@all', text: '499', limit: 1 }), [5_000]);
    assert.deepEqual(await filler.numbers({ ...common, offset: 5_049, limit: 9 }), [5_050]);
  });
}

function pastPromises({ inRepository }: StoreTests): void {
  inRepository('a day that leaves the window leaves the figures [F63]', async ({ store, id }) => {
    const filler = new Filler(store, id);
    await filler.add([{}, {}]);
    await filler.run([fail(1), fail(2)], { prNumber: 1 });
    await filler.run([fail(1, { startedAt: NOON + DAY_MS }), aStoredRun(1)], { prNumber: 2, at: NOON + DAY_MS });
    await filler.run([fail(1, { startedAt: NOON + 2 * DAY_MS })], { prNumber: 1, at: NOON + 2 * DAY_MS });
    const roll = async (now: number) => {
      while ((await store.testUpkeep.rollFigures(now, 1)) > 0);
      const { tests } = await filler.rank();
      return tests.map(({ test, pullRequests, days }) => [test.no, pullRequests, sumCounts(days).failures]);
    };
    const all = [
      [1, 2, 3],
      [2, 1, 1],
    ];
    assert.deepEqual(await roll(NOON + 29 * DAY_MS), all);
    assert.deepEqual(await roll(NOON + 30 * DAY_MS), [
      [1, 2, 2],
      [2, 0, 0],
    ]);
    assert.deepEqual(await roll(NOON + 31 * DAY_MS), [
      [1, 1, 1],
      [2, 0, 0],
    ]);
    assert.deepEqual(await roll(NOON + 99 * DAY_MS), [
      [1, 0, 0],
      [2, 0, 0],
    ]);
    assert.equal((await filler.rank()).tests[0]?.lastFailureAt, NOON + 2 * DAY_MS);
  });

  inRepository('tests that are forgotten are not listed', async ({ store, id }) => {
    const filler = new Filler(store, id);
    await filler.add([{ isFlagged: true }, { codeowners: ['@x'] }]);
    await filler.run([fail(1), fail(2)], { prNumber: 4 });
    await store.testIngest.markCounted(id, filler.seq);
    while ((await store.testUpkeep.forget(id, NOON + DAY_MS, 10)) > 0);
    assert.deepEqual(await filler.numbers(), [1]);
    assert.equal((await filler.rank({ limit: 1 })).totalRows, 1);
    assert.deepEqual(await filler.numbers({ owner: '@x' }), []);
    assert.equal(await store.testIngest.countTests(id), 1);
  });
}

const anyRun = fc.record({
  testNo: fc.integer({ min: 1, max: 12 }),
  conclusion: fc.constantFrom('SUCCESS' as const, 'FAILURE' as const, 'SKIPPED' as const),
  ago: fc.nat(3 * DAY_MS),
  durationMs: fc.option(fc.integer({ min: 0, max: 900 })),
});
const anyUpload = fc.record({
  runs: fc.array(anyRun, { minLength: 1, maxLength: 15 }),
  prNumber: fc.option(fc.integer({ min: 1, max: 4 })),
  isCounted: fc.boolean(),
  days: fc.integer({ min: 0, max: 9 }),
});

function anyPromises({ inStore }: StoreTests): void {
  inStore('whatever is uploaded when, the figures are those of the runs [F61][F62][F63]', async ({ store }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyUpload, { minLength: 1, maxLength: 8 }), async (uploads) => {
        const filler = new Filler(store, (await storeRepository(store)).id);
        await filler.add(Array.from({ length: 12 }, () => ({})));
        const past: { run: StoredRun; prNumber: number | null }[] = [];
        let at = NOON;
        for (const { runs, prNumber, isCounted, days } of uploads) {
          at += days * DAY_MS;
          const stored = runs.map(({ ago, ...run }) => aStoredRun(run.testNo, { ...run, startedAt: at - ago }));
          // The ingest stores the memory of a test that failed at once.
          const isUrgent = isCounted || stored.some(({ conclusion }) => conclusion === 'FAILURE');
          await countPending(filler, past, isUrgent);
          await filler.run(stored, { at, isCounted: isUrgent, ...(prNumber !== null && { prNumber }) });
          if (isUrgent) await store.testIngest.markCounted(filler.id, filler.seq);
          past.push(...stored.map((run) => ({ run, prNumber })));
        }
        while ((await store.testUpkeep.rollFigures(at, 5)) > 0);
        const window = past.filter(({ run }) => dayOf(run.startedAt) > dayOf(at) - 30);
        const { tests } = await filler.rank();
        for (const { test, days, pullRequests } of tests) {
          const own = window.filter(({ run }) => run.testNo === test.no);
          assert.deepEqual(
            days,
            countRuns(
              own.map(({ run }) => run),
              at,
            ),
          );
          const hit = own.filter(({ run, prNumber }) => run.conclusion === 'FAILURE' && prNumber !== null);
          assert.equal(pullRequests, new Set(hit.map(({ prNumber }) => prNumber)).size);
        }
        const impact = tests.map(({ pullRequests, days }) => [pullRequests, sumCounts(days).failures] as const);
        assert.deepEqual(
          impact,
          impact.toSorted((one, other) => other[0] - one[0] || other[1] - one[1]),
        );
      }),
      { numRuns: store.isShared ? 5 : 30 },
    );
  });
}

/** A memory counts all runs up to its number: those before must be in it. */
async function countPending(filler: Filler, past: readonly { readonly run: StoredRun }[], isUrgent: boolean) {
  if (!isUrgent || past.length === 0) return;
  const batches = await filler.store.testIngest.listUncounted(filler.id);
  const memories = batches.flatMap(({ seq, runs, receivedAt }) => filler.count(runs, receivedAt, seq));
  const { id: repositoryId, seq: expectedSeq, store } = filler;
  for (const memory of memories)
    assert.ok(await store.testIngest.storeMemories({ repositoryId, expectedSeq, memories: [memory] }));
  await store.testIngest.markCounted(repositoryId, expectedSeq);
}
