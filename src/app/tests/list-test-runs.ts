import type { EvidenceFlaw } from '../../flaky/core/evidence.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { RunConclusion, TestExecution as StoredRun } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { listPage, type PageQuery, type PageView } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { findTest, type TestRef } from './find-test.ts';
import { getRetentionStart } from './test-settings.ts';

export interface ListTestRuns extends TestRef {
  readonly page: PageQuery;
  /** Null: all. */
  readonly branch: string | null;
  readonly conclusion: RunConclusion | null;
  readonly hasFailureText: boolean;
}

export interface TestExecutionView {
  readonly conclusion: RunConclusion;
  readonly started_at: string;
  readonly duration_ms: number | null;
  readonly branch: string;
  readonly sha: string;
  readonly quarantined: boolean;
  readonly upload_id: string;
  readonly pr_number?: number;
  readonly job_name?: string;
  readonly job_url?: string;
  readonly no_evidence_because?: EvidenceFlaw;
  readonly failure_summary?: string;
  readonly failure_text?: string;
}

export async function listTestRuns(
  app: App,
  caller: Caller,
  input: ListTestRuns,
): Promise<{ readonly test_runs: readonly TestExecutionView[]; readonly page: PageView } | Refusal> {
  const found = await findTest(app, caller, input);
  if (isRefusal(found)) return found;
  const { repository, test } = found;
  const { branch, conclusion, page } = input;
  const asked = ['runs', test.id, branch, conclusion];
  // All pages use the retention of the first one.
  const read = await listPage(app, { repository, asked, page }, async (query, firstPageAt) => {
    const since = await getRetentionStart(app, repository, firstPageAt);
    return app.store.tests.listRuns({ ...query, testId: test.id, since, branch, conclusion });
  });
  if (isRefusal(read)) return read;
  return { test_runs: read.list.runs.map((run) => viewExecution(run, input.hasFailureText)), page: read.page };
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
    ...(prNumber === null ? {} : { pr_number: prNumber }),
    ...(jobName === '' ? {} : { job_name: jobName }),
    ...(jobUrl === null ? {} : { job_url: jobUrl }),
    ...(run.flaw === null ? {} : { no_evidence_because: run.flaw }),
    ...(failureSummary === null ? {} : { failure_summary: failureSummary }),
    ...(failureText === null || !hasFailureText ? {} : { failure_text: failureText }),
  };
}
