import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { storeObserved, type Told } from '../../../test/helpers/observed-test.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { DAY_MS, NOON } from '../../../test/helpers/store-rows.ts';
import { createInProcess } from '../../../test/worlds/server/in-process.ts';
import { readPages } from '../../../test/worlds/server/pages.ts';
import type { PageView } from '../../app/core/list-page.ts';
import type { TestEventView } from '../../app/tests/test-event-view.ts';
import type { TestExecutionView } from '../../app/tests/test-history.ts';
import type { TestRow } from '../../storage/tests.ts';

const RUNS = '/v1/flaky-tests/list-test-runs';
const EVENTS = '/v1/flaky-tests/list-test-events';
const SEARCH = '/v1/flaky-tests/search-tests';
const at = (instant: number) => new Date(instant).toISOString();

interface RunPage {
  readonly test_runs: readonly TestExecutionView[];
  readonly page: PageView;
}

interface EventPage {
  readonly events: readonly TestEventView[];
  readonly page: PageView;
}

describe('the history of a test', () => {
  const world = madeForEach(() => createInProcess());

  const told = (more: Partial<Told> = {}) =>
    storeObserved(world.store, world.repository, { at: NOON, runs: ['SUCCESS'], ...more });
  const body = (test: TestRow, more: object) => ({ ...world.scope, test_id: test.id, page_query: {}, ...more });
  const runs = (test: TestRow, more: object = {}) => world.ok<RunPage>(RUNS, body(test, more));
  const events = (test: TestRow, more: object = {}) => world.ok<EventPage>(EVENTS, body(test, more));

  describe('list-test-runs', () => {
    test('has the runs, newest first, with what their uploads say [F29]', async () => {
      const some = await told();
      await told({ test: some, at: NOON + 1000, runs: ['FAILURE'], branch: 'topic', prNumber: 7 });
      const { test_runs, page } = await runs(some);
      const [failure, success] = test_runs;
      assert.deepEqual(failure, {
        conclusion: 'FAILURE',
        started_at: at(NOON + 1000),
        duration_ms: 10,
        branch: 'topic',
        sha: 'c'.repeat(40),
        quarantined: false,
        upload_id: failure?.upload_id,
        pr_number: 7,
        job_name: 'unit',
        job_url: 'https://ci.test/1',
        failure_summary: 'expected 2',
      });
      assert.deepEqual(
        [success?.conclusion, success?.branch, success && 'pr_number' in success],
        ['SUCCESS', 'main', false],
      );
      assert.equal(page.total_rows, 2);
    });

    test('can be limited to a branch and a conclusion, in either case', async () => {
      const some = await told({ runs: ['SUCCESS', 'FAILURE', 'SKIPPED'] });
      await told({ test: some, branch: 'topic', runs: ['SUCCESS', 'SUCCESS'] });
      const count = async (more: object) => (await runs(some, more)).page.total_rows;
      assert.deepEqual([await count({}), await count({ branch: 'topic' }), await count({ branch: 'top' })], [5, 2, 0]);
      assert.equal(await count({ conclusion: 'skipped' }), 1);
      assert.equal(await count({ conclusion: 'SUCCESS', branch: 'main' }), 1);
    });

    test('has the text of failures where it is asked for', async () => {
      const some = await told({ runs: ['FAILURE'] });
      const [run] = (await runs(some, { include_failure_text: true })).test_runs;
      assert.equal(run?.failure_text, 'expected 2\n  at math.test.ts:3');
    });

    test('pages are as of the first, though runs arrive meanwhile [P2]', async () => {
      const some = await told({ runs: ['SUCCESS', 'SUCCESS', 'SUCCESS', 'SUCCESS', 'SUCCESS'] });
      const all = (await runs(some)).test_runs;
      const pages = await readPages(
        2,
        (page_query) => runs(some, { page_query }),
        () => told({ test: some, at: NOON + 1, runs: ['SUCCESS', 'FAILURE'] }),
      );
      assert.ok(pages.every(({ page }) => page.total_rows === 5));
      assert.deepEqual(
        pages.flatMap(({ test_runs }) => test_runs),
        all,
      );
      const page_query = { page_size: 2, page_token: pages[0]?.page.next_page_token };
      await world.refused('400 VALIDATION_FAILED', RUNS, body(some, { page_query, branch: 'main' }));
      await world.refused('400 VALIDATION_FAILED', EVENTS, body(some, { page_query }));
    });

    test('runs older than the retention of the repository are hidden at once [F56]', async () => {
      const some = await told({ at: NOON - 3 * DAY_MS, runs: ['FAILURE'] });
      await told({ test: some });
      const failing = () =>
        world.ok<{ page: PageView }>('/v1/flaky-tests/list-failing-tests', {
          ...world.scope,
          start_time: at(NOON - 5 * DAY_MS),
          end_time: at(NOON),
          page_query: {},
        });
      assert.deepEqual([(await runs(some)).page.total_rows, (await failing()).page.total_rows], [2, 1]);
      await world.ok('/v1/flaky-tests/update-settings', { ...world.scope, retention_days: 2 });
      assert.deepEqual([(await runs(some)).page.total_rows, (await failing()).page.total_rows], [1, 0]);
    });

    test('a filter that is none is refused', async () => {
      const some = await told();
      for (const more of [{ conclusion: 'flaky' }, { branch: '' }, { branch: 'x'.repeat(256) }, { page_query: 1 }]) {
        await world.refused('400 VALIDATION_FAILED', RUNS, body(some, more));
      }
    });
  });

  describe('list-test-events', () => {
    test('says what happened and why, with evidence, newest first [F30]', async () => {
      const flaky = await told({ runs: ['RETRIED'] });
      const { events: all, page } = await events(flaky);
      assert.equal(page.total_rows, all.length);
      const byKind = new Map(all.map((event) => [event.kind, event]));
      const activated = byKind.get('MONITOR_ACTIVATED');
      const status = byKind.get('STATUS_CHANGED');
      assert.deepEqual([status?.from, status?.to, status && 'actor' in status], ['HEALTHY', 'FLAKY', false]);
      assert.equal(status?.text, 'The status changed from HEALTHY to FLAKY.');
      assert.match(status?.reason ?? '', /^Pass on retry: /);
      assert.equal(byKind.get('LABEL_ADDED')?.text, 'The monitor "New tests" put the label "New" on.');
      assert.ok(activated !== undefined);
      const retried = all.find((event) => event.monitor_type === 'pass_on_retry');
      assert.equal(retried?.text, 'The monitor "Pass on retry" detected it.');
      assert.deepEqual(pluck(retried?.evidence?.runs, 'sha', 'branch', 'job'), [['c'.repeat(40), 'main', 'unit']]);
    });

    test('a monitor that is gone keeps its name in the history [F30]', async () => {
      const flaky = await told({ runs: ['RETRIED'] });
      const [retry] = (await world.ok<{ monitors: { id: string }[] }>('/v1/flaky-tests/list-monitors', world.scope))
        .monitors;
      await world.ok('/v1/flaky-tests/delete-monitor', { ...world.scope, monitor_id: retry?.id });
      const { events: all } = await events(flaky);
      const retried = all.find((event) => event.monitor_type === 'pass_on_retry');
      assert.equal(retried?.text, 'The monitor "Pass on retry" detected it.');
    });

    test('pages are as of the first [P2]', async () => {
      const flaky = await told({ runs: ['RETRIED'] });
      const all = (await events(flaky)).events;
      const flag = () => world.ok('/v1/flaky-tests/flag-test', { ...world.scope, test_id: flaky.id, flagged: true });
      const pages = await readPages(1, (page_query) => events(flaky, { page_query }), flag);
      assert.deepEqual(
        pages.flatMap((page) => page.events),
        all,
      );
      assert.ok((await events(flaky)).events.length > all.length);
    });
  });

  describe('search-tests', () => {
    const search = async (query: string, more: object = {}) => {
      const found = await world.ok<{ tests: { name: string }[] }>(SEARCH, { ...world.scope, query, ...more });
      return found.tests.map(({ name }) => name);
    };

    test('finds tests by a part of name, class, file or suite, by name [F31]', async () => {
      await told({ values: { name: 'subtracts', file: 'math.test.ts' } });
      await told({ values: { name: 'Adds 50% more', file: 'math.test.ts' } });
      await told({ values: { name: 'draws', file: 'shape.test.ts', classname: 'Shape', parent: 'shapes' } });
      assert.deepEqual(await search('MATH.test'), ['Adds 50% more', 'subtracts']);
      assert.deepEqual(await search('adds'), ['Adds 50% more']);
      assert.deepEqual(await search('0% m'), ['Adds 50% more']);
      assert.deepEqual(await search('%'), ['Adds 50% more']);
      assert.deepEqual(await search('_'), []);
      assert.deepEqual(await search('shapes'), ['draws']);
      assert.deepEqual(await search('test', { limit: 1 }), ['Adds 50% more']);
      for (const more of [{ query: '' }, { query: 'x', limit: 0 }, { query: 'x', limit: 101 }, { query: 5 }]) {
        await world.refused('400 VALIDATION_FAILED', SEARCH, { ...world.scope, ...more });
      }
    });
  });
});
