import { dayOf } from '../../flaky/daily-counts.ts';
import type { Instant } from '../../lib/clock.ts';
import type { RankedTestsQuery, TestStatus } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type PageQuery, type PageView, type TestScope } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal, refuseField } from '../core/refusal.ts';
import { getRetentionStart } from './stored-test-settings.ts';
import { type ListedTestView, type TestView, viewListed, viewTests } from './test-view.ts';

const MAX_WINDOW_MS = 7 * 24 * 3_600_000;

interface ListFailingTests extends TestScope {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
  readonly page: PageQuery;
  readonly baseUrl: string;
}

interface TestPage {
  readonly tests: readonly TestView[];
  readonly page: PageView;
}

export async function listFailingTests(app: App, caller: Caller, input: ListFailingTests): Answer<TestPage> {
  const problem = checkWindow(input);
  if (problem !== undefined) return problem;
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { from, until, page } = input;
  const read = await listPage(
    app,
    { repository, asked: ['failing', from, until], page },
    async (query, firstPageAt) => {
      const since = await getRetentionStart(app, repository, firstPageAt);
      return app.store.tests.listFailing({ ...query, from: Math.max(from, since), until });
    },
  );
  if (isRefusal(read)) return read;
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests: read.list.tests, links }), page: read.page };
}

// SPEC P4
function checkWindow({ from, until }: ListFailingTests): Refusal | undefined {
  if (from >= until) return refuseField('/start_time', 'must be earlier than end_time');
  if (until - from > MAX_WINDOW_MS) return refuseField('/start_time', 'must be within 7 days of end_time');
  return undefined;
}

interface ListUnhealthyTests extends TestScope {
  readonly status: Exclude<TestStatus, 'HEALTHY'>;
  readonly page: PageQuery;
  readonly baseUrl: string;
}

export async function listUnhealthyTests(app: App, caller: Caller, input: ListUnhealthyTests): Answer<TestPage> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { status, page } = input;
  const read = await listPage(app, { repository, asked: ['unhealthy', status], page }, (query) =>
    app.store.tests.listByStatus({ ...query, status }),
  );
  if (isRefusal(read)) return read;
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests: read.list.tests, links }), page: read.page };
}

interface SearchTests extends TestScope {
  readonly text: string;
  readonly limit: number;
  readonly baseUrl: string;
}

// SPEC F31
export async function searchTests(
  app: App,
  caller: Caller,
  input: SearchTests,
): Answer<{ readonly tests: readonly TestView[] }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const tests = await app.store.tests.search(repository.id, input.text, input.limit);
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests, links }) };
}

type Filters = Pick<RankedTestsQuery, 'order' | 'status' | 'isQuarantined' | 'owner' | 'text'>;

interface ListTests extends TestScope, Filters {
  readonly page: PageQuery;
  readonly baseUrl: string;
}

// SPEC F64
export async function listTests(
  app: App,
  caller: Caller,
  input: ListTests,
): Answer<{ readonly tests: readonly ListedTestView[]; readonly page: PageView }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { order, status, isQuarantined, owner, text, page } = input;
  const filters = { order, status, isQuarantined, owner, text };
  const read = await listPage(app, { repository, asked: ['all', filters], page }, ({ repositoryId, offset, limit }) =>
    app.store.tests.rank({ ...filters, repositoryId, offset, limit }),
  );
  if (isRefusal(read)) return read;
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  const shown = { repository, links, today: dayOf(app.clock.now()) };
  return { tests: read.list.tests.map((test) => viewListed(test, shown)), page: read.page };
}
