import type * as contract from '../../contract/flaky-tests.ts';
import type { RequestOf } from '../../contract/operation.ts';
import { dayOf } from '../../flaky/daily-counts.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type PageView } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal, refuseField } from '../core/refusal.ts';
import { getRetentionStart } from './stored-test-settings.ts';
import { type ListedTestView, type Place, type TestView, viewListed, viewTests } from './test-view.ts';

const MAX_WINDOW_MS = 7 * 24 * 3_600_000;

type ListFailingTests = RequestOf<typeof contract.listFailingTests>;

interface TestPage {
  readonly tests: readonly TestView[];
  readonly page: PageView;
}

export async function listFailingTests(
  app: App,
  caller: Caller,
  input: ListFailingTests,
  { baseUrl }: Place,
): Answer<TestPage> {
  const problem = checkWindow(input);
  if (problem !== undefined) return problem;
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { start_time: from, end_time: until, page_query: page } = input;
  const asked = ['failing', from, until];
  const read = await listPage(app, { repository, asked, page }, async (query, firstPageAt) => {
    const since = await getRetentionStart(app, repository, firstPageAt);
    return app.store.tests.listFailing({ ...query, from: Math.max(from, since), until });
  });
  if (isRefusal(read)) return read;
  const links = { baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests: read.list.tests, links }), page: read.page };
}

// SPEC P4
function checkWindow({ start_time: from, end_time: until }: ListFailingTests): Refusal | undefined {
  if (from >= until) return refuseField('/start_time', 'must be earlier than end_time');
  if (until - from > MAX_WINDOW_MS) return refuseField('/start_time', 'must be within 7 days of end_time');
  return undefined;
}

export async function listUnhealthyTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.listUnhealthyTests>,
  { baseUrl }: Place,
): Answer<TestPage> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { status, page_query: page } = input;
  const read = await listPage(app, { repository, asked: ['unhealthy', status], page }, (query) =>
    app.store.tests.listByStatus({ ...query, status }),
  );
  if (isRefusal(read)) return read;
  const links = { baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests: read.list.tests, links }), page: read.page };
}

// SPEC F31
export async function searchTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.searchTests>,
  { baseUrl }: Place,
): Answer<{ readonly tests: readonly TestView[] }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const tests = await app.store.tests.search(repository.id, input.query, input.limit ?? 20);
  const links = { baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests, links }) };
}

// SPEC F64
export async function listTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.listTests>,
  { baseUrl }: Place,
): Answer<{ readonly tests: readonly ListedTestView[]; readonly page: PageView }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { sort: order = 'PULL_REQUESTS', status = null, quarantined: isQuarantined = null } = input;
  const { owner = null, text = null, page_query: page } = input;
  const filters = { order, status, isQuarantined, owner, text };
  const read = await listPage(app, { repository, asked: ['all', filters], page }, ({ repositoryId, offset, limit }) =>
    app.store.tests.rank({ ...filters, repositoryId, offset, limit }),
  );
  if (isRefusal(read)) return read;
  const links = { baseUrl, orgSlug: caller.organization.slug };
  const shown = { repository, links, today: dayOf(app.clock.now()) };
  return { tests: read.list.tests.map((test) => viewListed(test, shown)), page: read.page };
}
