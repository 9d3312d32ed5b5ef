import { reportCheck as report, type TestRunName } from '../../app/queue/report-check.ts';
import { upper } from '../../contract/schema.ts';
import { reportCheck } from '../../contract/testing.ts';
import type { CheckConclusion, CheckStatus } from '../../engine/check.ts';
import type { Sha } from '../../lib/sha.ts';
import { instant } from '../core/parse.ts';
import { HttpProblem } from '../core/problem.ts';
import { route } from '../core/route.ts';

export const reportCheckRoute = route(reportCheck, ({ app, caller }, body) => {
  const { repo, name, url, summary, startedAt } = body;
  const status = parseStatus(body.status);
  const conclusion = body.conclusion === undefined ? undefined : (upper(body.conclusion) as CheckConclusion);
  checkConclusion(status, conclusion);
  const check = {
    name,
    status,
    conclusion,
    startedAt: startedAt === undefined ? undefined : instant('/startedAt', startedAt),
    url,
    summary,
  };
  return report(app, caller, { repo, of: parseName(body), check });
});

function parseStatus(given: string): CheckStatus {
  const status = given.toUpperCase();
  return status === 'PENDING' ? 'QUEUED' : (status as CheckStatus);
}

/** The contract sees to it that there is exactly one of them. */
function parseName({ testRunId, sha }: { readonly testRunId?: string; readonly sha?: string }): TestRunName {
  return testRunId === undefined ? { sha: (sha ?? '').toLowerCase() as Sha } : { testRunId };
}

function checkConclusion(status: CheckStatus, conclusion: CheckConclusion | undefined): void {
  if ((status === 'COMPLETED') === (conclusion !== undefined)) return;
  const message =
    status === 'COMPLETED' ? 'is required when status is COMPLETED' : 'must wait until status is COMPLETED';
  throw new HttpProblem('VALIDATION_FAILED', `conclusion ${message}.`, [{ path: '/conclusion', message }]);
}
