import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as testHistoryContract from '../../contract/test-history.ts';
import { formatInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Repository } from '../../storage/repositories.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import type { TestExecution as StoredRun, TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type TestScope } from '../core/list-page.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { testNotFound } from './get-test-details.ts';
import { getRetentionStart } from './stored-test-settings.ts';
import { viewTestEvent } from './test-event-view.ts';

type TestRuns = ReplyOf<typeof testHistoryContract.listTestRuns>;
export type TestExecutionView = TestRuns['test_runs'][number];

// SPEC F29
export async function listTestRuns(
  app: App,
  caller: Caller,
  input: RequestOf<typeof testHistoryContract.listTestRuns>,
): Answer<TestRuns> {
  const found = await findTest(app, caller, input);
  if (isRefusal(found)) return found;
  const { repository, test } = found;
  const { branch = null, conclusion = null, include_failure_text: hasFailureText = false, page_query: page } = input;
  const asked = ['runs', test.id, branch, conclusion];
  // All pages use the retention of the first one.
  const read = await listPage(app, { repository, asked, page }, async (query, firstPageAt) => {
    const since = await getRetentionStart(app, repository, firstPageAt);
    return app.store.tests.listRuns({ ...query, testId: test.id, since, branch, conclusion });
  });
  if (isRefusal(read)) return read;
  return { test_runs: read.list.runs.map((run) => viewExecution(run, hasFailureText)), page: read.page };
}

function viewExecution(run: StoredRun, hasFailureText: boolean): TestExecutionView {
  const { conclusion, startedAt, durationMs, branch, sha, isQuarantined, uploadId } = run;
  const { prNumber, jobName, jobUrl, failureSummary, failureText } = run;
  return {
    conclusion,
    started_at: formatInstant(startedAt),
    duration_ms: durationMs === null ? null : Math.round(durationMs),
    branch,
    sha,
    quarantined: isQuarantined,
    upload_id: uploadId,
    ...present({ pr_number: prNumber, job_name: jobName || null, job_url: jobUrl, no_evidence_because: run.flaw }),
    ...present({ failure_summary: failureSummary, failure_text: hasFailureText ? failureText : null }),
  };
}

// SPEC F30
export async function listTestEvents(
  app: App,
  caller: Caller,
  input: RequestOf<typeof testHistoryContract.listTestEvents>,
): Answer<ReplyOf<typeof testHistoryContract.listTestEvents>> {
  const found = await findTest(app, caller, input);
  if (isRefusal(found)) return found;
  const { repository, test } = found;
  const read = await listPage(app, { repository, asked: ['events', test.id], page: input.page_query }, (query) =>
    app.store.tests.listEvents({ ...query, testId: test.id }),
  );
  if (isRefusal(read)) return read;
  const { monitors } = await readTestSettings(app.store, repository);
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  return { events: read.list.events.map((event) => viewTestEvent(event, names)), page: read.page };
}

async function findTest(
  app: App,
  caller: Caller,
  ref: TestScope & { readonly test_id: string },
): Answer<{ readonly repository: Repository; readonly test: TestRow }> {
  const repository = await findTestScope(app, caller, ref);
  if (isRefusal(repository)) return repository;
  const test = await app.store.tests.find(repository.id, ref.test_id);
  return test === undefined ? testNotFound(ref.test_id) : { repository, test };
}
