import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import {
  aFailure,
  aRepository,
  aRun,
  aTest,
  DAY_MS,
  NOON,
  storeOrganization,
} from '../../../test/helpers/store-rows.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import type { PageView } from '../../app/core/list-page.ts';
import type { ListedTestView } from '../../app/tests/test-view.ts';

const LIST = '/v1/flaky-tests/list-tests';

interface Listed {
  readonly tests: readonly ListedTestView[];
  readonly page: PageView;
}

describe('list-tests over HTTP', () => {
  const world = madeForEach(() => createInProcess());

  const body = (more: object = {}, page: object = {}) => ({ ...world.scope, page_query: page, ...more });
  const ask = (more: object = {}, page: object = {}) => world.ok<Listed>(LIST, body(more, page));
  const names = async (more: object = {}, page: object = {}) => (await ask(more, page)).tests.map(({ name }) => name);
  const refused = async (more: object, page: object = {}) => {
    const problem = await world.refused('400 VALIDATION_FAILED', LIST, body(more, page));
    return (problem as unknown as { errors: { path: string; message: string }[] }).errors;
  };
  const hit = (id: string, prNumber: number, ago = 0) =>
    aFailure(id, { prNumber, isBlocking: true, startedAt: NOON - ago });

  test('answers identity, status and figures of 30 days [F61]', async () => {
    const one = aTest(world.repository.id, { status: 'FLAKY', statusReason: 'It failed.', codeowners: ['@acme/math'] });
    const runs = [hit(one.id, 7, DAY_MS), aRun(one.id, { durationMs: 30, startedAt: NOON }), hit(one.id, 8)];
    await world.apply([one], [...runs, aRun(one.id, { conclusion: 'SKIPPED' })]);
    const [listed] = (await ask()).tests;
    const { daily, average_duration_ms, ...rest } = listed as ListedTestView;
    assert.deepEqual(rest, {
      id: one.id,
      repository: { html_url: 'https://sluice.test/acme/flaky-tests?repo=acme%2Fapp' },
      html_url: `https://sluice.test/acme/flaky-tests/test/${one.id}?repo=acme%2Fapp&host=local`,
      name: 'adds numbers',
      variant: '',
      status: { value: 'FLAKY', reason: 'It failed.', timestamp: new Date(NOON).toISOString() },
      codeowners: ['@acme/math'],
      quarantined: false,
      file_path: 'math.test.ts',
      parent: 'math',
      classname: 'MathTest',
      runs_last_30d: 3,
      failures_last_30d: 2,
      failure_rate_last_30d: 2 / 3,
      pull_requests_impacted_last_30d: 2,
      last_failure_at: new Date(NOON).toISOString(),
    });
    assert.equal(daily.first_day, new Date(NOON - 29 * DAY_MS).toISOString().slice(0, 10));
    assert.deepEqual(
      [daily.runs.slice(-3), daily.failures.slice(-3)],
      [
        [0, 1, 2],
        [0, 1, 1],
      ],
    );
    assert.deepEqual([daily.runs.length, daily.failures.length], [30, 30]);
    assert.ok((average_duration_ms as number) > 0);
  });

  test('a day that has passed is not shown, even before it leaves the stored figures [F63]', async () => {
    const one = aTest(world.repository.id);
    await world.apply([one], [hit(one.id, 7), aRun(one.id)]);
    world.clock.set(NOON + 30 * DAY_MS);
    const [listed] = (await ask()).tests;
    assert.deepEqual([listed?.runs_last_30d, listed?.failure_rate_last_30d], [0, 0]);
    assert.equal(listed?.average_duration_ms, undefined);
  });

  test('lists all tests, those without runs too, and narrows the list [F60]', async () => {
    const { id } = world.repository;
    assert.deepEqual(await ask(), { tests: [], page: (await ask()).page });
    assert.equal((await ask()).page.total_rows, 0);
    const rows = [
      aTest(id, { name: 'never ran', codeowners: ['@acme/ü "&<>'] }),
      aTest(id, { name: 'flakes', status: 'FLAKY', quarantinedAt: NOON }),
      aTest(id, { name: 'breaks', status: 'BROKEN' }),
    ];
    await world.apply(rows, [hit(rows[2]?.id as string, 1), hit(rows[1]?.id as string, 1)]);
    await world.apply([], [hit(rows[2]?.id as string, 2)]);
    assert.deepEqual(await names(), ['breaks', 'flakes', 'never ran']);
    assert.deepEqual(await names({ status: 'flaky' }), ['flakes']);
    assert.deepEqual(await names({ quarantined: false }), ['breaks', 'never ran']);
    assert.deepEqual(await names({ owner: '@acme/ü "&<>' }), ['never ran']);
    assert.deepEqual(await names({ owner: '%' }), []);
    assert.deepEqual(await names({ text: 'KES', sort: 'last_failure' }), ['flakes']);
    assert.deepEqual(await names({ sort: 'PULL_REQUESTS' }, { page_size: 1 }), ['breaks']);
  });

  test('refuses a filter that cannot be, and says which are possible', async () => {
    assert.match((await refused({ sort: 'IMPACT' }))[0]?.message ?? '', /one of PULL_REQUESTS, FAILURES, FAILURE_RATE/);
    assert.equal((await refused({ status: 'GREEN' }))[0]?.path, '/status');
    assert.equal((await refused({ owner: '' }))[0]?.path, '/owner');
    assert.equal((await refused({ owner: 'a\nb' }))[0]?.path, '/owner');
    assert.equal((await refused({ owner: 'x'.repeat(201) }))[0]?.path, '/owner');
    assert.equal((await refused({ text: 'a\u0001' }))[0]?.path, '/text');
    assert.equal((await refused({ quarantined: 'maybe' }))[0]?.path, '/quarantined');
  });

  test('a page token of another list, sort or filter is refused [F64]', async () => {
    await world.apply([1, 2, 3].map(() => aTest(world.repository.id, { status: 'FLAKY' })));
    const { next_page_token: page_token, total_pages } = (await ask({}, { page_size: 2 })).page;
    assert.equal(total_pages, 2);
    const next = await ask({}, { page_size: 2, page_token });
    assert.deepEqual([next.tests.length, next.page.page_index, next.page.next_page_token], [1, 1, '']);
    const other = { page_size: 2, page_token };
    for (const more of [{ sort: 'FAILURES' }, { status: 'FLAKY' }, { owner: '@acme/math' }, { text: 'adds' }])
      assert.equal((await refused(more, other))[0]?.path, '/page_query/page_token');
    await world.refused(
      '400 VALIDATION_FAILED',
      '/v1/flaky-tests/list-unhealthy-tests',
      body({ status: 'FLAKY' }, other),
    );
    const unhealthy = '/v1/flaky-tests/list-unhealthy-tests';
    const { page } = await world.ok<Listed>(unhealthy, body({ status: 'FLAKY' }, { page_size: 2 }));
    await refused({ status: 'FLAKY' }, { page_size: 2, page_token: page.next_page_token });
  });

  test('tells nothing of repositories of another organization, and is not on /trunk/v1 [F64]', async () => {
    const { id: organizationId } = await storeOrganization(world.store);
    const other = await world.store.repositories.save(aRepository({ organizationId, host: 'local', name: 'secret' }));
    const repo = { host: other.host, owner: other.owner, name: other.name };
    await world.refused('404 REPOSITORY_NOT_FOUND', LIST, { ...body(), repo });
    await world.refused('404 ORGANIZATION_NOT_FOUND', LIST, { ...body(), org_url_slug: 'other' });
    assert.equal((await world.post('/trunk/v1/flaky-tests/list-tests', body())).status, 404);
  });

  test('cost-of-flakes refuses a range that cannot be, and is empty where there is no queue [F66]', async () => {
    const cost = '/v1/flaky-tests/cost-of-flakes';
    const range = (from: number, until: number) => ({
      ...world.scope,
      start_time: new Date(from).toISOString(),
      end_time: new Date(until).toISOString(),
    });
    await world.apply([aTest(world.repository.id, { status: 'FLAKY' })]);
    const nothing = { test_runs: 0, entries_removed: 0, entries_retested: 0, hours_waited: 0, ci_minutes: 0 };
    const reply = await world.ok<unknown>(cost, range(NOON - DAY_MS, NOON));
    assert.deepEqual(reply, { total: nothing, tests: [], owners: [], saved_by_honoring: nothing });
    await world.refused('400 VALIDATION_FAILED', cost, range(NOON, NOON));
    await world.refused('400 VALIDATION_FAILED', cost, range(NOON - 93 * DAY_MS, NOON));
    await world.refused('400 VALIDATION_FAILED', cost, { ...range(NOON - 1, NOON), start_time: 'yesterday' });
    await world.refused('404 ORGANIZATION_NOT_FOUND', cost, { ...range(NOON - 1, NOON), org_url_slug: 'other' });
    assert.equal((await world.post(`/trunk${cost}`, range(NOON - 1, NOON))).status, 404);
  });
});
