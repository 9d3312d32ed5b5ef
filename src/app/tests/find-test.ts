import type { Repository } from '../../storage/repositories.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';

export interface TestRef extends TestScope {
  readonly testId: string;
}

export async function findTest(
  app: App,
  caller: Caller,
  ref: TestRef,
): Promise<{ readonly repository: Repository; readonly test: TestRow } | Refusal> {
  const repository = await findTestScope(app, caller, ref);
  if (isRefusal(repository)) return repository;
  const test = await app.store.tests.find(repository.id, ref.testId.toLowerCase());
  return test === undefined ? testNotFound(ref.testId) : { repository, test };
}

export function testNotFound(testId: string): Refusal {
  return refuse('TEST_NOT_FOUND', `This repository has no test with the id ${testId}.`);
}
