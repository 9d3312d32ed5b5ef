import type { Instant } from '../../lib/clock.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type PageQuery, type PageView, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { getRetentionStart } from './test-settings.ts';
import { type TestView, viewTests } from './test-view.ts';

const MAX_WINDOW_MS = 7 * 24 * 3_600_000;

export interface ListFailingTests extends TestScope {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
  readonly page: PageQuery;
  readonly baseUrl: string;
}

export interface TestPage {
  readonly tests: readonly TestView[];
  readonly page: PageView;
}

export async function listFailingTests(app: App, caller: Caller, input: ListFailingTests): Promise<TestPage | Refusal> {
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

function checkWindow({ from, until }: ListFailingTests): Refusal | undefined {
  if (from >= until) return badWindow('must be earlier than end_time');
  if (until - from > MAX_WINDOW_MS) return badWindow('must be within 7 days of end_time');
  return undefined;
}

function badWindow(message: string): Refusal {
  return refuse('VALIDATION_FAILED', `start_time ${message}.`, [{ path: '/start_time', message }]);
}
