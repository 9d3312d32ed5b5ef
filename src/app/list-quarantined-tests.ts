import { formatInstant } from '../lib/clock.ts';
import type { TestRow, TestStatus } from '../storage/tests.ts';
import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findTestScope, listPage, type PageQuery, type PageView, type TestScope } from './list-page.ts';
import { isRefusal, type Refusal } from './refusal.ts';

export interface ListQuarantinedTests extends TestScope {
  readonly page: PageQuery;
}

export interface QuarantinedTestView {
  readonly name: string;
  readonly parent?: string;
  readonly file?: string;
  readonly classname?: string;
  readonly status: TestStatus;
  readonly codeowners: readonly string[];
  readonly quarantine_setting: 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE';
  readonly quarantined_at: string;
  readonly status_last_updated_at: string;
  readonly test_case_id: string;
  readonly variant: string;
}

export interface QuarantinedPage {
  readonly quarantined_tests: readonly QuarantinedTestView[];
  readonly page: PageView;
}

export async function listQuarantinedTests(
  app: App,
  caller: Caller,
  input: ListQuarantinedTests,
): Promise<QuarantinedPage | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const read = await listPage(app, { repository, asked: ['quarantined'], page: input.page }, (query) =>
    app.store.tests.listQuarantined(query),
  );
  if (isRefusal(read)) return read;
  return { quarantined_tests: read.list.tests.map(viewQuarantined), page: read.page };
}

function viewQuarantined(test: TestRow): QuarantinedTestView {
  return {
    name: test.name,
    ...(test.parent === null ? {} : { parent: test.parent }),
    ...(test.file === null ? {} : { file: test.file }),
    ...(test.classname === null ? {} : { classname: test.classname }),
    status: test.status,
    codeowners: test.codeowners,
    quarantine_setting: test.quarantineOverride === 'ALWAYS_QUARANTINE' ? 'ALWAYS_QUARANTINE' : 'AUTO_QUARANTINE',
    // A page shows who was quarantined as of its watermark; one released since then shows when its status changed.
    quarantined_at: formatInstant(test.quarantinedAt ?? test.statusAt),
    status_last_updated_at: formatInstant(test.statusAt),
    test_case_id: test.id,
    variant: test.variant,
  };
}
