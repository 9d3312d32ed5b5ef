import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import type { TestRow } from '../../src/storage/tests.ts';
import { pluck } from '../helpers/pluck.ts';
import { aFailure, aRun, aTest, DAY_MS, NOON, storeRepository } from '../helpers/store-rows.ts';
import { applyResults, type TestRunRow } from '../helpers/test-results.ts';
import type { StoreTests } from './store-fixture.ts';

export function testPromises(tests: StoreTests): void {
  applyPromises(tests);
  watermarkPromises(tests);
  failingPromises(tests);
  statsPromises(tests);
  failureGroupPromises(tests);
}

/** Identities of a repository that has no others yet, whose order by id is the order given. */
function someTests(repositoryId: RepositoryId, values: readonly Partial<TestRow>[]): TestRow[] {
  const prefix = randomUUID();
  return values.map((value, index) =>
    aTest(repositoryId, { id: `${prefix}-${String(index).padStart(6, '0')}`, no: index + 1, ...value }),
  );
}

async function applyTo(store: Store, repositoryId: RepositoryId, tests: TestRow[], runs: TestRunRow[] = []) {
  return applyResults(store, { repositoryId, tests, runs });
}

function applyPromises({ inRepository, inStore }: StoreTests): void {
  inStore('sequence numbers of a repository grow from 1', async ({ store, tests }) => {
    const [a, b] = [await storeRepository(store), await storeRepository(store)];
    assert.equal(await tests.getWatermark(a.id), 0);
    assert.equal(await applyTo(store, a.id, []), 1);
    assert.equal(await applyTo(store, a.id, []), 2);
    assert.equal(await applyTo(store, b.id, []), 1);
    assert.equal(await tests.getWatermark(a.id), 2);
  });

  inRepository('changes at once get different numbers without a gap', async ({ store, id }) => {
    const numbers = await Promise.all(Array.from({ length: 12 }, () => applyTo(store, id, [aTest(id)])));
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
  });

  inRepository('a test is inserted, then replaced by its id', async ({ store, tests, id }) => {
    const row = aTest(id, { parent: null, classname: null, file: null, codeowners: [] });
    await applyTo(store, id, [row]);
    assert.deepEqual(await tests.find(id, row.id), row);
    const changed = aTest(id, {
      id: row.id,
      status: 'FLAKY',
      quarantinedAt: NOON,
      ticketUrl: 'https://t/1',
      name: 'é',
    });
    await applyTo(store, id, [changed]);
    assert.deepEqual(await tests.find(id, row.id), changed);
    assert.equal(await tests.find(id, 'unknown'), undefined);
    const other = await storeRepository(store);
    assert.equal(await tests.find(other.id, row.id), undefined);
  });

  inRepository(
    'a change that cannot be stored whole is not stored, and takes no number',
    async ({ store, tests, id }) => {
      const [good, bad] = [aTest(id), aTest(id, { name: 'a\0b' })];
      await assert.rejects(applyTo(store, id, [good, bad]));
      await assert.rejects(applyTo(store, id, [good], [aRun(good.id, { branch: '\0' })]));
      await assert.rejects(applyTo(store, id, [aTest('another' as RepositoryId)]));
      await assert.rejects(applyTo(store, 'nothing' as RepositoryId, []));
      assert.equal(await tests.getWatermark(id), 0);
      assert.equal(await tests.find(id, good.id), undefined);
    },
  );

  inRepository('a large upload is stored whole', async ({ store, tests, id }) => {
    const rows = someTests(
      id,
      Array.from({ length: 1500 }, () => ({})),
    );
    const runs = rows.flatMap((row) => [aRun(row.id), aFailure(row.id, { durationMs: 0.5 })]);
    await applyTo(store, id, rows, runs);
    await applyTo(store, id, rows, runs);
    const page = { repositoryId: id, watermark: 2, offset: 1490, limit: 100 };
    const failing = await tests.listFailing({ ...page, from: NOON, until: NOON + 1 });
    assert.equal(failing.totalRows, 1500);
    assert.deepEqual(failing.tests, rows.slice(1490));
    assert.equal((await tests.listByStatus({ ...page, status: 'HEALTHY' })).totalRows, 1500);
  });
}

function watermarkPromises({ inRepository }: StoreTests): void {
  inRepository('quarantine is told as of the watermark', async ({ store, id, tests }) => {
    const [a, b] = someTests(id, [{}, {}]) as [TestRow, TestRow];
    const quarantined = (row: TestRow) => ({ ...row, quarantinedAt: NOON });
    await applyTo(store, id, [a, b]);
    await applyTo(store, id, [quarantined(a)]);
    await applyTo(store, id, [quarantined(a), quarantined(b)]);
    await applyTo(store, id, [a]);
    await applyTo(store, id, [quarantined(a)]);
    const idsAt = async (watermark: number) => {
      const list = await tests.listQuarantined({ repositoryId: id, watermark, offset: 0, limit: 10 });
      assert.equal(list.totalRows, list.tests.length);
      return list.tests.map((row) => row.id);
    };
    const expected = [[], [], [a.id], [a.id, b.id], [b.id], [a.id, b.id], [a.id, b.id]];
    for (const [watermark, ids] of expected.entries()) assert.deepEqual(await idsAt(watermark), ids);
  });

  inRepository('statuses are told as of the watermark', async ({ store, id, tests }) => {
    const [a, b] = someTests(id, [{}, { status: 'FLAKY' }]) as [TestRow, TestRow];
    await applyTo(store, id, [a, b]);
    await applyTo(store, id, [{ ...a, status: 'FLAKY' }]);
    await applyTo(store, id, [
      { ...a, status: 'BROKEN', statusReason: 'worse' },
      { ...b, ticketUrl: 'https://t' },
    ]);
    const idsOf = async (status: TestRow['status'], watermark: number) => {
      const query = { repositoryId: id, watermark, offset: 0, limit: 10, status };
      return (await tests.listByStatus(query)).tests.map((row) => row.id);
    };
    assert.deepEqual(await idsOf('HEALTHY', 1), [a.id]);
    assert.deepEqual(await idsOf('FLAKY', 1), [b.id]);
    assert.deepEqual(await idsOf('FLAKY', 2), [a.id, b.id]);
    assert.deepEqual(await idsOf('FLAKY', 3), [b.id]);
    assert.deepEqual(await idsOf('BROKEN', 3), [a.id]);
    assert.deepEqual(await idsOf('HEALTHY', 3), []);
  });

  inRepository('pages at one watermark fit together while changes go on', async ({ store, tests, id }) => {
    const rows = someTests(
      id,
      Array.from({ length: 25 }, () => ({ status: 'FLAKY' as const })),
    );
    await applyTo(
      store,
      id,
      rows,
      rows.map((row) => aFailure(row.id)),
    );
    const watermark = await tests.getWatermark(id);
    const flaky: string[] = [];
    const failing: string[] = [];
    for (let offset = 0; offset < 30; offset += 5) {
      const page = { repositoryId: id, watermark, offset, limit: 5 };
      const [ofStatus, ofFailures] = await Promise.all([
        tests.listByStatus({ ...page, status: 'FLAKY' }),
        tests.listFailing({ ...page, from: NOON, until: NOON + 1 }),
        applyTo(store, id, someTests(id, [{ status: 'FLAKY' }])),
      ]);
      assert.deepEqual([ofStatus.totalRows, ofFailures.totalRows], [25, 25]);
      flaky.push(...ofStatus.tests.map((row) => row.id));
      failing.push(...ofFailures.tests.map((row) => row.id));
      const healed = rows[offset + 2];
      if (healed !== undefined) await applyTo(store, id, [{ ...healed, status: 'HEALTHY' }], [aFailure(healed.id)]);
    }
    const expected = rows.map((row) => row.id);
    assert.deepEqual(flaky, expected);
    assert.deepEqual(failing, expected);
  });
}

function failingPromises({ inRepository }: StoreTests): void {
  inRepository(
    'failing tests are told by their failures within the window, then by id',
    async ({ store, id, tests }) => {
      const [a, b, c, d] = someTests(id, [{}, {}, {}, {}]) as [TestRow, TestRow, TestRow, TestRow];
      await applyTo(
        store,
        id,
        [a, b, c, d],
        [
          aFailure(a.id, { startedAt: NOON }),
          aFailure(b.id, { startedAt: NOON + 5 }),
          aFailure(c.id, { startedAt: NOON + 9 }),
          aFailure(c.id, { startedAt: NOON + 9 }),
          aFailure(d.id, { startedAt: NOON + 10 }),
          aFailure(d.id, { startedAt: NOON - 1 }),
          aRun(d.id, { startedAt: NOON + 5 }),
          aRun(d.id, { startedAt: NOON + 5, conclusion: 'SKIPPED' }),
        ],
      );
      const list = (offset: number, limit: number) =>
        tests.listFailing({ repositoryId: id, watermark: 1, offset, limit, from: NOON, until: NOON + 10 });
      assert.deepEqual(await list(0, 9), { totalRows: 3, tests: [c, a, b] });
      assert.deepEqual(await list(1, 1), { totalRows: 3, tests: [a] });
      assert.deepEqual(await list(7, 1), { totalRows: 3, tests: [] });
    },
  );

  inRepository('a list of nothing is empty', async ({ id, tests }) => {
    const query = { repositoryId: id, watermark: 5, offset: 0, limit: 9 };
    const empty = { totalRows: 0, tests: [] };
    assert.deepEqual(await tests.listFailing({ ...query, from: 0, until: NOON }), empty);
    assert.deepEqual(await tests.listQuarantined(query), empty);
    assert.deepEqual(await tests.listQuarantined({ ...query, offset: 3 }), empty);
    assert.deepEqual(await tests.listByStatus({ ...query, status: 'BROKEN' }), empty);
  });
}

const NO_STATS = {
  runs7d: 0,
  failures7d: 0,
  runs24h: 0,
  failures24h: 0,
  pullRequestsImpacted7d: 0,
  failureGroups: [],
};

function statsPromises({ inRepository }: StoreTests): void {
  inRepository('runs are counted over a week and a day, skipped ones not at all', async ({ store, id, tests }) => {
    const [a, b] = someTests(id, [{}, {}]) as [TestRow, TestRow];
    const fail = (startedAt: number) => aFailure(a.id, { startedAt, failureGroup: 'g', failureSummary: '' });
    await applyTo(
      store,
      id,
      [a, b],
      [
        aRun(a.id),
        fail(NOON),
        fail(NOON - DAY_MS + 1),
        fail(NOON - DAY_MS),
        aRun(a.id, { startedAt: NOON - 7 * DAY_MS + 1 }),
        fail(NOON - 7 * DAY_MS),
        fail(NOON + 1),
        aRun(a.id, { conclusion: 'SKIPPED' }),
      ],
    );
    const stats = await tests.getStats({
      repositoryId: id,
      testIds: [b.id, a.id, 'unknown'],
      now: NOON,
      since: 0,
    });
    const failureGroups = [{ summary: '', occurrences: 4, lastAt: NOON }];
    const ofA = { ...NO_STATS, runs7d: 5, failures7d: 3, runs24h: 3, failures24h: 2, failureGroups };
    assert.deepEqual(stats, [NO_STATS, ofA, NO_STATS]);
    assert.deepEqual(await tests.getStats({ repositoryId: id, testIds: [], now: NOON, since: 0 }), []);
  });

  inRepository('a pull request is impacted once, by failures that blocked it', async ({ store, id, tests }) => {
    const row = aTest(id);
    const fail = (values: Partial<TestRunRow>) => aFailure(row.id, { isBlocking: true, ...values });
    await applyTo(
      store,
      id,
      [row],
      [
        fail({ prNumber: 4_294_967_295 }),
        fail({ prNumber: 4_294_967_295 }),
        fail({ prNumber: 2 }),
        fail({ prNumber: 3, isBlocking: false }),
        fail({ prNumber: null }),
        fail({ prNumber: 4, startedAt: NOON - 8 * DAY_MS }),
      ],
    );
    const [stats] = await tests.getStats({ repositoryId: id, testIds: [row.id], now: NOON, since: 0 });
    assert.equal(stats?.pullRequestsImpacted7d, 2);
  });

  inRepository('a hundred tests are asked for at once', async ({ store, id, tests }) => {
    const rows = someTests(
      id,
      Array.from({ length: 100 }, () => ({})),
    );
    await applyTo(
      store,
      id,
      rows,
      rows.flatMap((row, index) => Array.from({ length: index }, () => aFailure(row.id))),
    );
    const stats = await tests.getStats({
      repositoryId: id,
      testIds: rows.map((row) => row.id),
      now: NOON,
      since: 0,
    });
    assert.deepEqual(
      pluck(stats, 'failures7d'),
      rows.map((_, index) => index),
    );
    assert.equal(stats[99]?.failureGroups[0]?.occurrences, 99);
  });
}

function failureGroupPromises({ inRepository }: StoreTests): void {
  inRepository(
    'the five most frequent ways to fail are told, the latest first among equals',
    async ({ store, id, tests }) => {
      const row = aTest(id);
      const fail = (failureGroup: string, ago: number, failureSummary = failureGroup) =>
        aFailure(row.id, { failureGroup, failureSummary, startedAt: NOON - ago });
      await applyTo(
        store,
        id,
        [row],
        [
          ...[fail('often', 9, 'before'), fail('often', 5, 'latest'), fail('often', 7, 'middle')],
          ...[fail('twice', 1), fail('twice', 2)],
          ...[fail('c', 30), fail('d', 20), fail('e', 10), fail('f', 40)],
          ...[fail('old', 101), fail('old', 102), fail('old', 103)],
        ],
      );
      const query = { repositoryId: id, testIds: [row.id], now: NOON, since: NOON - 100 };
      const [stats] = await tests.getStats(query);
      assert.deepEqual(stats?.failureGroups, [
        { summary: 'latest', occurrences: 3, lastAt: NOON - 5 },
        { summary: 'twice', occurrences: 2, lastAt: NOON - 1 },
        { summary: 'e', occurrences: 1, lastAt: NOON - 10 },
        { summary: 'd', occurrences: 1, lastAt: NOON - 20 },
        { summary: 'c', occurrences: 1, lastAt: NOON - 30 },
      ]);
    },
  );
}
