import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { storeObserved } from '../../../test/helpers/observed-test.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import {
  aFailure,
  aRepository,
  aRun,
  aTest,
  DAY_MS,
  NOON,
  storeOrganization,
} from '../../../test/helpers/store-rows.ts';
import { FAILING, failingRequest, listFailing, type TestPage } from '../../../test/worlds/server/failing-tests.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { readPages } from '../../../test/worlds/server/pages.ts';
import type { PageView } from '../../app/core/list-page.ts';
import type { TestDetailsView } from '../../app/tests/get-test-details.ts';
import type { QuarantinedTestView } from '../../app/tests/list-quarantined-tests.ts';
import type { TestView } from '../../app/tests/test-view.ts';
import type { TestRow } from '../../storage/tests.ts';

const HOUR_MS = 3_600_000;
const QUARANTINED = '/v1/flaky-tests/list-quarantined-tests';
const UNHEALTHY = '/v1/flaky-tests/list-unhealthy-tests';
const DETAILS = '/v1/flaky-tests/get-test-details';

interface QuarantinedPage {
  readonly quarantined_tests: readonly QuarantinedTestView[];
  readonly page: PageView;
}

describe('flaky tests over HTTP', () => {
  const world = madeForEach(() => createInProcess());

  const at = (instant: number) => new Date(instant).toISOString();
  const some = (count: number, values: Partial<TestRow> = {}): TestRow[] =>
    Array.from({ length: count }, () => aTest(world.repository.id, values)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const window = (more?: object) => failingRequest(world, more);
  const failing = (more?: object) => listFailing(world, more);
  const quarantined = (page: object = {}) =>
    world.ok<QuarantinedPage>(QUARANTINED, { ...world.scope, page_query: page });
  const unhealthy = (status: string, page: object = {}) =>
    world.ok<TestPage>(UNHEALTHY, { ...world.scope, status, page_query: page });
  const details = async (id: string) =>
    (await world.ok<{ test: TestDetailsView }>(DETAILS, { ...world.scope, test_id: id })).test;
  /** As in lists and on /trunk/v1. */
  const testCase = async (id: string): Promise<TestView> => {
    const {
      first_seen_at: _1,
      quarantined_at: _2,
      quarantine_override: _3,
      flag: _4,
      labels: _5,
      monitors: _6,
      daily: _7,
      pull_requests_impacted_last_30d: _8,
      average_duration_ms: _9,
      last_failure_at: _10,
      suites: _11,
      ...rest
    } = await details(id);
    return rest;
  };

  describe('get-test-details', () => {
    test('answers every field of a test of which everything is known [F57]', async () => {
      const test = aTest(world.repository.id, {
        variant: 'linux',
        status: 'FLAKY',
        statusReason: 'It failed and passed on one commit.',
        quarantineOverride: 'ALWAYS_QUARANTINE',
        override: { actor: 'ada', at: NOON, reason: 'Noise.', expiresAt: NOON + DAY_MS },
        quarantinedAt: NOON,
        ticketUrl: 'https://tickets.test/1',
      });
      await world.apply([test], [aFailure(test.id, { prNumber: 7, isBlocking: true }), aRun(test.id)]);
      const { daily, average_duration_ms, ...rest } = await details(test.id);
      assert.deepEqual([daily.runs.length, daily.runs.at(-1), daily.failures.at(-1)], [30, 2, 1]);
      assert.ok((average_duration_ms as number) > 0);
      assert.deepEqual(rest, {
        id: test.id,
        repository: { html_url: 'https://sluice.test/acme/flaky-tests?repo=acme%2Fapp' },
        html_url: `https://sluice.test/acme/flaky-tests/test/${test.id}?repo=acme%2Fapp&host=local`,
        name: 'adds numbers',
        variant: 'linux',
        status: { value: 'FLAKY', reason: 'It failed and passed on one commit.', timestamp: at(NOON) },
        most_common_failures: [{ summary: 'expected 2', occurrence_count: 1, last_occurrence: at(NOON) }],
        failure_rate_last_7d: 0.5,
        failure_rate_last_24h: 0.5,
        codeowners: ['@acme/math'],
        pull_requests_impacted_last_7d: 1,
        pull_requests_impacted_last_30d: 1,
        last_failure_at: at(NOON),
        quarantined: true,
        file_path: 'math.test.ts',
        parent: 'math',
        classname: 'MathTest',
        ticket: { html_url: 'https://tickets.test/1' },
        first_seen_at: at(NOON),
        suites: [],
        quarantined_at: at(NOON),
        quarantine_override: {
          setting: 'ALWAYS_QUARANTINE',
          actor: 'ada',
          at: at(NOON),
          reason: 'Noise.',
          expires_at: at(NOON + DAY_MS),
        },
        labels: [],
        monitors: [],
      });
    });

    test('leaves out unknown fields, and has zeros for a test that never ran', async () => {
      const test = aTest(world.repository.id, { parent: null, classname: null, file: null, codeowners: [] });
      await world.apply([test]);
      const { html_url: _url, repository: _repository, daily, ...rest } = await details(test.id);
      assert.equal(Math.max(...daily.runs, ...daily.failures), 0);
      assert.deepEqual(rest, {
        id: test.id,
        name: 'adds numbers',
        variant: '',
        status: { value: 'HEALTHY', reason: '', timestamp: at(NOON) },
        most_common_failures: [],
        failure_rate_last_7d: 0,
        failure_rate_last_24h: 0,
        codeowners: [],
        pull_requests_impacted_last_7d: 0,
        pull_requests_impacted_last_30d: 0,
        quarantined: false,
        first_seen_at: at(NOON),
        suites: [],
        labels: [],
        monitors: [],
      });
    });

    test('rates are exact fractions of the runs that were not skipped [P5]', async () => {
      const [test] = some(1) as [TestRow];
      const skipped = times(5, () => aRun(test.id, { conclusion: 'SKIPPED' }));
      const recent = [...times(2, () => aRun(test.id)), aFailure(test.id)];
      const older = times(4, () => aFailure(test.id, { startedAt: NOON - 2 * DAY_MS }));
      await world.apply([test], [...skipped, ...recent, ...older]);
      const { failure_rate_last_24h, failure_rate_last_7d } = await details(test.id);
      assert.deepEqual([failure_rate_last_24h, failure_rate_last_7d], [1 / 3, 5 / 7]);
    });

    for (const [what, age, expected] of [
      ['24 h less 1 ms ago', 24 * HOUR_MS - 1, [1, 1]],
      ['24 h and 1 ms ago', 24 * HOUR_MS + 1, [0, 1]],
      ['7 days less 1 ms ago', 7 * DAY_MS - 1, [0, 1]],
      ['7 days and 1 ms ago', 7 * DAY_MS + 1, [0, 0]],
    ] as const) {
      test(`a failure ${what} counts to the instant`, async () => {
        const [test] = some(1) as [TestRow];
        await world.apply([test], [aFailure(test.id, { startedAt: NOON - age })]);
        const { failure_rate_last_24h, failure_rate_last_7d } = await details(test.id);
        assert.deepEqual([failure_rate_last_24h, failure_rate_last_7d], expected);
      });
    }

    test('failures older than the retention of 45 days are invisible', async () => {
      const [test] = some(1) as [TestRow];
      await world.apply([test], [aFailure(test.id, { startedAt: NOON - 46 * DAY_MS })]);
      assert.deepEqual((await details(test.id)).most_common_failures, []);
    });

    test('the id is found in either case, and another is not', async () => {
      const [test] = some(1) as [TestRow];
      await world.apply([test]);
      assert.equal((await details(test.id.toUpperCase())).id, test.id);
      await world.refused('404 TEST_NOT_FOUND', DETAILS, { ...world.scope, test_id: randomUUID() });
      await world.refused('400 VALIDATION_FAILED', DETAILS, { ...world.scope, test_id: 'adds numbers' });
    });
  });

  describe('list-failing-tests', () => {
    test('has each failing test once, the most failures first, then by id [P4]', async () => {
      const [a, b, c, d] = some(4) as [TestRow, TestRow, TestRow, TestRow];
      const runs = [
        aFailure(a.id),
        aFailure(b.id),
        ...times(3, () => aFailure(c.id)),
        aRun(d.id),
        aRun(d.id, { conclusion: 'SKIPPED' }),
      ];
      await world.apply([a, b, c, d], runs);
      const { tests, page } = await failing();
      assert.deepEqual(pluck(tests, 'id'), [c.id, a.id, b.id]);
      assert.deepEqual([page.total_rows, page.total_pages, page.page_index], [3, 1, 0]);
      assert.deepEqual(tests[0], await testCase(c.id));
    });

    test('start_time is inclusive, end_time exclusive', async () => {
      const [first, last] = some(2) as [TestRow, TestRow];
      const [start, end] = [NOON, NOON + HOUR_MS];
      await world.apply(
        [first, last],
        [aFailure(first.id, { startedAt: start }), aFailure(last.id, { startedAt: end })],
      );
      const { tests } = await failing({ start_time: at(start), end_time: at(end) });
      assert.deepEqual(pluck(tests, 'id'), [first.id]);
    });

    test('an instant may have any zone', async () => {
      const [test] = some(1) as [TestRow];
      await world.apply([test], [aFailure(test.id, { startedAt: Date.parse('2023-11-14T22:00:00Z') })]);
      const zones = { start_time: '2023-11-15T00:00:00+02:00', end_time: '2023-11-14T17:00:00.001-05:00' };
      assert.equal((await failing(zones)).tests.length, 1);
    });

    test('7 days are allowed [P4]', async () => {
      await failing({ start_time: at(NOON - 7 * DAY_MS), end_time: at(NOON) });
    });

    for (const [what, more] of [
      ['7 days and 1 ms', { start_time: at(NOON - 7 * DAY_MS - 1), end_time: at(NOON) }],
      ['a reversed window', { start_time: at(NOON), end_time: at(NOON - 1) }],
      ['an empty window', { start_time: at(NOON), end_time: at(NOON) }],
      ['an instant without a zone', { start_time: '2023-11-14T22:00:00' }],
      ['a date', { end_time: '2023-11-14' }],
      ['a number', { start_time: NOON }],
      ['a day that does not exist', { start_time: '2023-02-30T00:00:00Z' }],
      ['no start', { start_time: undefined }],
      ['no end', { end_time: undefined }],
      ['no page_query', { page_query: undefined }],
      ['a page_query that is none', { page_query: [] }],
      ['no repo', { repo: undefined }],
      ['no org_url_slug', { org_url_slug: undefined }],
      ['page_size 0', { page_query: { page_size: 0 } }],
      ['page_size 101', { page_query: { page_size: 101 } }],
      ['page_size 1.5', { page_query: { page_size: 1.5 } }],
      ['page_size as text', { page_query: { page_size: '5' } }],
      ['page_token as a number', { page_query: { page_token: 7 } }],
      ['a page_token of 10,000 characters', { page_query: { page_token: 'x'.repeat(10_000) } }],
    ] as const) {
      test(`${what} is refused`, async () => {
        const { errors } = await world.refused('400 VALIDATION_FAILED', FAILING, window(more));
        assert.ok((errors?.length ?? 0) > 0);
      });
    }
  });

  describe('list-quarantined-tests', () => {
    const aQuarantined = (values: Partial<TestRow> = {}) =>
      aTest(world.repository.id, { status: 'FLAKY', quarantinedAt: NOON + 5, ...values });
    const idsIn = (pages: readonly QuarantinedPage[]) =>
      pages.flatMap((page) => page.quarantined_tests.map((test) => test.test_case_id));

    test('has the whole row, and why it is quarantined', async () => {
      const override = { actor: 'ada', at: NOON, reason: 'Noise.', expiresAt: null };
      const test = aQuarantined({ quarantineOverride: 'ALWAYS_QUARANTINE', override, variant: 'linux' });
      await world.apply([test, aTest(world.repository.id)]);
      const { quarantined_tests, page } = await quarantined();
      assert.deepEqual(quarantined_tests, [
        {
          name: 'adds numbers',
          parent: 'math',
          file: 'math.test.ts',
          classname: 'MathTest',
          status: 'FLAKY',
          codeowners: ['@acme/math'],
          quarantine_setting: 'ALWAYS_QUARANTINE',
          quarantined_at: at(NOON + 5),
          status_last_updated_at: at(NOON),
          test_case_id: test.id,
          variant: 'linux',
        },
      ]);
      assert.deepEqual(page.total_rows, 1);
    });

    test('leaves out unknown fields; /trunk/v1 has nulls instead', async () => {
      await world.apply([aQuarantined({ parent: null, file: null, classname: null })]);
      const [here] = (await quarantined()).quarantined_tests;
      const body = { ...world.scope, page_query: { page_size: 1 } };
      const trunk = await world.ok<{ quarantined_tests: object[] }>(`/trunk${QUARANTINED}`, body);
      assert.ok(!('parent' in (here ?? {})));
      assert.deepEqual([here?.status, here?.quarantine_setting], ['FLAKY', 'AUTO_QUARANTINE']);
      assert.deepEqual(trunk.quarantined_tests, [{ ...here, parent: null, file: null, classname: null }]);
    });

    describe('tests to be reviewed', () => {
      const LONG_AGO = NOON - 15 * DAY_MS;
      const runsOf = (test: TestRow, passes: number, startedAt = NOON - HOUR_MS) =>
        times(passes, (index) => aRun(test.id, { startedAt: startedAt - index }));

      test('are those that only pass now, or no longer run [F22] [F57]', async () => {
        const [passing, seldom, failing, idle, absent] = times(5, () => aQuarantined({ quarantinedAt: LONG_AGO }));
        const recent = aQuarantined({ quarantinedAt: NOON - 13 * DAY_MS });
        const all = [passing, seldom, failing, idle, absent, recent] as TestRow[];
        await world.apply(all, [
          ...runsOf(passing as TestRow, 50),
          ...runsOf(seldom as TestRow, 49),
          ...runsOf(failing as TestRow, 50),
          aFailure((failing as TestRow).id),
          ...runsOf(idle as TestRow, 60, NOON - 14 * DAY_MS - HOUR_MS),
          ...runsOf(recent, 60),
        ]);
        const { quarantined_tests } = await quarantined();
        const reviews = new Map(quarantined_tests.map((test) => [test.test_case_id, test.review]));
        assert.deepEqual(
          all.map((test) => reviews.get(test.id)),
          ['ALWAYS_PASSES', undefined, undefined, 'NEVER_RUNS', 'NEVER_RUNS', undefined],
        );
        const trunk = await world.ok<QuarantinedPage>(`/trunk${QUARANTINED}`, { ...world.scope, page_query: {} });
        assert.ok(trunk.quarantined_tests.every((test) => !('review' in test)));
      });

      test('say when a decision ends [F57]', async () => {
        const override = { actor: 'ada', at: NOON, reason: 'Noise.', expiresAt: NOON + DAY_MS };
        await world.apply([aQuarantined({ quarantineOverride: 'ALWAYS_QUARANTINE', override })]);
        const [shown] = (await quarantined()).quarantined_tests;
        assert.equal(shown?.expires_at, at(NOON + DAY_MS));
        const trunk = await world.ok<QuarantinedPage>(`/trunk${QUARANTINED}`, { ...world.scope, page_query: {} });
        assert.ok(trunk.quarantined_tests.every((test) => !('expires_at' in test)));
      });

      test('can be had alone, in the pages of the whole list', async () => {
        const old = times(3, () => aQuarantined({ quarantinedAt: LONG_AGO }));
        await world.apply([...old, ...times(4, () => aQuarantined())]);
        const pages = await readPages(2, (page_query) =>
          world.ok<QuarantinedPage>(QUARANTINED, { ...world.scope, page_query, only_to_review: true }),
        );
        assert.ok(pages.every(({ page }) => page.total_rows === 7));
        assert.deepEqual(idsIn(pages), old.map((test) => test.id).toSorted());
      });
    });

    test('a row that is there throughout appears once, though other rows come and go meanwhile', async () => {
      const stay = times(10, () => aQuarantined());
      await world.apply(stay);
      const pages = await readPages(3, quarantined, async () => {
        await world.apply(times(3, () => aQuarantined()));
        await world.apply([{ ...(stay[0] as TestRow), quarantinedAt: null }]);
      });
      assert.ok(pages.every(({ page }) => page.total_rows === 10));
      assert.deepEqual(idsIn(pages), stay.map((test) => test.id).toSorted());
    });
  });

  describe('list-unhealthy-tests', () => {
    test('has the tests of a status by id, in either case of its name', async () => {
      const flaky = some(3, { status: 'FLAKY' });
      const [broken] = some(1, { status: 'BROKEN' }) as [TestRow];
      await world.apply([...flaky, broken, ...some(1)]);
      const idsOf = async (status: string) => (await unhealthy(status)).tests.map((test) => test.id);
      assert.deepEqual(
        await idsOf('FLAKY'),
        flaky.map((test) => test.id),
      );
      assert.deepEqual(await idsOf('broken'), [broken.id]);
      for (const status of ['HEALTHY', 'Flaky', '', undefined]) {
        await world.refused('400 VALIDATION_FAILED', UNHEALTHY, { ...world.scope, status, page_query: {} });
      }
    });

    test('on /trunk/v1 the status is lower case and the figures of runs are left out', async () => {
      const [flaky] = some(1, { status: 'FLAKY' }) as [TestRow];
      await world.apply([flaky], [aFailure(flaky.id)]);
      const body = { ...world.scope, status: 'FLAKY', page_query: { page_size: 1 } };
      const [there] = (await world.ok<TestPage>(`/trunk${UNHEALTHY}`, body)).tests;
      const {
        most_common_failures: _1,
        failure_rate_last_7d: _2,
        failure_rate_last_24h: _3,
        ...rest
      } = await testCase(flaky.id);
      assert.deepEqual(there, { ...rest, status: { ...rest.status, value: 'flaky' } });
    });

    test('on /trunk/v1 details and failing tests have a lower-case status and the figures [F32]', async () => {
      const [broken] = some(1, { status: 'BROKEN' }) as [TestRow];
      await world.apply([broken], [aFailure(broken.id)]);
      const expected = await testCase(broken.id);
      const lower = { ...expected, status: { ...expected.status, value: 'broken' } };
      const one = await world.ok(`/trunk${DETAILS}`, { ...world.scope, test_id: broken.id });
      assert.deepEqual(one, { test: lower });
      assert.deepEqual((await world.ok<TestPage>(`/trunk${FAILING}`, window())).tests, [lower]);
    });
  });

  describe('the scope', () => {
    const body = (more: object) => ({ ...window(), status: 'FLAKY', test_id: randomUUID(), ...more });
    for (const url of [FAILING, QUARANTINED, UNHEALTHY, DETAILS]) {
      test(`${url}: another organization's slug or repository is not found [P6]`, async () => {
        const other = await storeOrganization(world.store, { slug: 'other' });
        await world.store.repositories.save(aRepository({ organizationId: other.id, host: 'local', name: 'theirs' }));
        for (const slug of ['other', 'nobody', 'ACME', 'v1']) {
          await world.refused('404 ORGANIZATION_NOT_FOUND', url, body({ org_url_slug: slug }));
        }
        for (const name of ['theirs', 'nothing']) {
          await world.refused('404 REPOSITORY_NOT_FOUND', url, body({ repo: { ...world.scope.repo, name } }));
        }
      });
    }

    test("a test of another repository is none of this one's", async () => {
      const { organizationId } = world.repository;
      const other = await world.store.repositories.save(aRepository({ organizationId, host: 'local', name: 'other' }));
      const repo = { ...world.scope.repo, name: 'other' };
      await world.ok('/v1/flaky-tests/update-settings', { ...world.scope, repo, auto_quarantine: true });
      const theirs = await storeObserved(world.store, other, { at: NOON, runs: ['RETRIED'] });
      assert.deepEqual([theirs.status, theirs.quarantinedAt], ['FLAKY', NOON]);
      await world.refused('404 TEST_NOT_FOUND', DETAILS, { ...world.scope, test_id: theirs.id });
      assert.deepEqual((await failing()).tests, []);
      assert.deepEqual((await quarantined()).quarantined_tests, []);
      assert.deepEqual((await unhealthy('FLAKY')).tests, []);
    });
  });
});
