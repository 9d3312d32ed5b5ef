import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { type TestView, viewTests } from './test-view.ts';

export interface SearchTests extends TestScope {
  readonly text: string;
  readonly limit: number;
  readonly baseUrl: string;
}

export async function searchTests(
  app: App,
  caller: Caller,
  input: SearchTests,
): Promise<{ readonly tests: readonly TestView[] } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const tests = await app.store.tests.search(repository.id, input.text, input.limit);
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  return { tests: await viewTests(app, { repository, tests, links }) };
}
