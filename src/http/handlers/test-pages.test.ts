import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aFailure, aRepository, aTest, DAY_MS, NOON } from '../../../test/helpers/store-rows.ts';
import { FAILING, failingRequest, listFailing, type TestPage } from '../../../test/worlds/server/failing-tests.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { readPages } from '../../../test/worlds/server/pages.ts';

const HOUR_MS = 3_600_000;
const QUARANTINED = '/v1/flaky-tests/list-quarantined-tests';
const UNHEALTHY = '/v1/flaky-tests/list-unhealthy-tests';

describe('pages', () => {
  const world = madeForEach(() => createInProcess());

  const at = (instant: number) => new Date(instant).toISOString();
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const window = (more?: object) => failingRequest(world, more);
  const failing = (more?: object) => listFailing(world, more);
  const fill = async (count: number): Promise<void> => {
    const tests = times(count, () => aTest(world.repository.id));
    await world.apply(
      tests,
      tests.map((test) => aFailure(test.id)),
    );
  };
  const walk = (pageSize: number, between?: () => Promise<unknown>) =>
    readPages(pageSize, (page_query) => failing({ page_query }), between);

  test('an empty result has no pages and no tokens [P1]', async () => {
    assert.deepEqual(await failing(), {
      tests: [],
      page: {
        total_rows: 0,
        total_pages: 0,
        next_page_token: '',
        prev_page_token: '',
        last_page_token: '',
        page_index: 0,
      },
    });
  });

  test('lead forward, back and to the last', async () => {
    await fill(5);
    const pages = await walk(2);
    assert.deepEqual(
      pages.map(({ tests, page }) => [tests.length, page.page_index, page.total_pages, page.total_rows]),
      [
        [2, 0, 3, 5],
        [2, 1, 3, 5],
        [1, 2, 3, 5],
      ],
    );
    assert.equal(pages[0]?.page.prev_page_token, '');
    const [, second, third] = pages;
    const back = await failing({ page_query: { page_size: 2, page_token: third?.page.prev_page_token } });
    assert.deepEqual(back, second);
    const last = await failing({ page_query: { page_size: 2, page_token: pages[0]?.page.last_page_token } });
    assert.deepEqual(last, third);
  });

  test('have 25 rows by default, and an empty token is the first page [P1]', async () => {
    await fill(30);
    const { tests, page } = await failing({ page_query: { page_token: '' } });
    assert.deepEqual([tests.length, page.total_pages], [25, 2]);
  });

  test('are all as of the first, though results arrive meanwhile [P2]', async () => {
    await fill(7);
    const ids = new Set((await failing()).tests.map((test) => test.id));
    const pages = await walk(2, async () => {
      await fill(5);
      const known = [...ids].map((id) => aFailure(id));
      await world.apply([], known.slice(3));
    });
    assert.deepEqual(
      pages.map(({ page }) => [page.total_rows, page.total_pages]),
      times(4, () => [7, 4]),
    );
    const seen = pages.flatMap(({ tests }) => tests.map((test) => test.id));
    assert.deepEqual(seen.toSorted(), [...ids].toSorted());
  });

  test('a token is of its query alone', async () => {
    await fill(5);
    const { page } = await failing({ page_query: { page_size: 2 } });
    const page_query = { page_size: 2, page_token: page.next_page_token };
    const other = aRepository({ organizationId: world.repository.organizationId, host: 'local', name: 'other' });
    await world.store.repositories.save(other);
    for (const [url, body] of [
      [FAILING, window({ page_query: { ...page_query, page_size: 3 } })],
      [FAILING, window({ page_query: { page_token: page.next_page_token } })],
      [FAILING, window({ page_query, start_time: at(NOON - DAY_MS + 1) })],
      [FAILING, window({ page_query, end_time: at(NOON + DAY_MS - 1) })],
      [FAILING, window({ page_query, repo: { ...world.scope.repo, name: 'other' } })],
      [QUARANTINED, { ...world.scope, page_query }],
      [UNHEALTHY, { ...world.scope, status: 'FLAKY', page_query }],
    ] as const) {
      const { errors } = await world.refused('400 VALIDATION_FAILED', url, body);
      assert.deepEqual(pluck(errors, 'path'), ['/page_query/page_token']);
    }
    assert.equal((await failing({ page_query })).page.page_index, 1);
  });

  test('a token works on the other mount', async () => {
    await fill(5);
    const { page } = await failing({ page_query: { page_size: 2 } });
    const body = window({ page_query: { page_size: 2, page_token: page.next_page_token } });
    assert.equal((await world.ok<TestPage>(`/trunk${FAILING}`, body)).page.page_index, 1);
  });

  test('a token works for 24 hours', async () => {
    await fill(5);
    const { page } = await failing({ page_query: { page_size: 2 } });
    const page_query = { page_size: 2, page_token: page.next_page_token };
    world.clock.set(NOON + 24 * HOUR_MS);
    const later = await failing({ page_query });
    world.clock.set(NOON + 24 * HOUR_MS + 1);
    await world.refused('400 VALIDATION_FAILED', FAILING, window({ page_query }));
    // Reading the next page does not renew the token.
    const next = { page_size: 2, page_token: later.page.next_page_token };
    await world.refused('400 VALIDATION_FAILED', FAILING, window({ page_query: next }));
  });
});
