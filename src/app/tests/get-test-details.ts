import { decodeState } from '../../storage/test-codec.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { testNotFound } from './find-test.ts';
import { type TestDetailsView, viewTestDetails } from './test-details-view.ts';
import { getTestSettings } from './test-settings.ts';

export interface GetTestDetails extends TestScope {
  readonly testId: string;
  readonly baseUrl: string;
}

export async function getTestDetails(
  app: App,
  caller: Caller,
  input: GetTestDetails,
): Promise<{ readonly test: TestDetailsView } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { known } = await app.store.testIngest.load(repository.id, [input.testId.toLowerCase()]);
  const [found] = known;
  if (found === undefined) return testNotFound(input.testId);
  const { test, memory } = found;
  const links = { baseUrl: input.baseUrl, orgSlug: caller.organization.slug };
  const settings = await getTestSettings(app, repository);
  return { test: await viewTestDetails(app, { test, state: decodeState(memory.state), settings, repository, links }) };
}
