import type { TestStatus } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type PageQuery, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import type { TestPage } from './list-failing-tests.ts';
import { viewTests } from './test-view.ts';

export interface ListUnhealthyTests extends TestScope {
  readonly status: Exclude<TestStatus, 'HEALTHY'>;
  readonly page: PageQuery;
  readonly baseUrl: string;
}

export async function listUnhealthyTests(
  app: App,
  caller: Caller,
  input: ListUnhealthyTests,
): Promise<TestPage | Refusal> {
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
