import type * as contract from '../../contract/flaky-tests.ts';
import type { RequestOf } from '../../contract/operation.ts';
import { dayOf } from '../../flaky/daily-counts.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type PageView } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal, refuseField } from '../core/refusal.ts';
import { getRetentionStart } from './stored-test-settings.ts';
import { type ListedTestView, linksOf, type Place, type TestView, viewListed, viewTests } from './test-view.ts';

const DAY_MS = 24 * 3_600_000;
const MAX_WINDOW_DAYS = 7;

type ListFailingTests = RequestOf<typeof contract.listFailingTests>;

interface TestPage {
  readonly tests: readonly TestView[];
  readonly page: PageView;
}

export async function listFailingTests(
  app: App,
  caller: Caller,
  input: ListFailingTests,
  place: Place,
): Answer<TestPage> {
  const problem = checkWindow(input, MAX_WINDOW_DAYS);
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
  return {
    tests: await viewTests(app, { repository, tests: read.list.tests, links: linksOf(caller, place) }),
    page: read.page,
  };
}

// SPEC P4
export function checkWindow(
  { start_time: from, end_time: until }: Pick<ListFailingTests, 'start_time' | 'end_time'>,
  days: number,
): Refusal | undefined {
  if (from >= until) return refuseField('/start_time', 'must be earlier than end_time');
  if (until - from <= days * DAY_MS) return undefined;
  return refuseField('/start_time', `must be within ${days} days of end_time`);
}

export async function listUnhealthyTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.listUnhealthyTests>,
  place: Place,
): Answer<TestPage> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { status, page_query: page } = input;
  const read = await listPage(app, { repository, asked: ['unhealthy', status], page }, (query) =>
    app.store.tests.listByStatus({ ...query, status }),
  );
  if (isRefusal(read)) return read;
  return {
    tests: await viewTests(app, { repository, tests: read.list.tests, links: linksOf(caller, place) }),
    page: read.page,
  };
}

// SPEC F31
export async function searchTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.searchTests>,
  place: Place,
): Answer<{ readonly tests: readonly TestView[] }> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const tests = await app.store.tests.search(repository.id, input.query, input.limit ?? 20);
  return { tests: await viewTests(app, { repository, tests, links: linksOf(caller, place) }) };
}

// SPEC F64
export async function listTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.listTests>,
  place: Place,
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
  const shown = { repository, links: linksOf(caller, place), today: dayOf(app.clock.now()) };
  return { tests: read.list.tests.map((test) => viewListed(test, shown)), page: read.page };
}
