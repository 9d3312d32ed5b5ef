import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findTestScope, type TestScope } from './list-page.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';
import { type TestView, viewTests } from './views/test-view.ts';

export interface GetTestDetails extends TestScope {
  readonly testId: string;
  readonly baseUrl: string;
}

export async function getTestDetails(
  app: App,
  caller: Caller,
  input: GetTestDetails,
): Promise<{ readonly test: TestView } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const row = await app.store.tests.find(repository.id, input.testId.toLowerCase());
  if (row === undefined) return refuse('TEST_NOT_FOUND', `This repository has no test with the id ${input.testId}.`);
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  const [test] = await viewTests(app, { repository, tests: [row], links });
  return { test: test as TestView };
}
