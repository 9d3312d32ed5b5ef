import { present } from '../../lib/present.ts';
import type { Context } from '../core/context.ts';
import { CliError } from '../core/exit.ts';
import type { AnswerOf, BodyOf } from '../core/operations.ts';
import type { Part } from './answer.ts';
import { readLogTail } from './log-tail.ts';
import type { Session } from './tool.ts';

type Timeline = NonNullable<AnswerOf<'getSubmittedPullRequest'>['timeline']>;
type TestRun = Extract<AnswerOf<'getMergeQueueTestingDetails'>, { readonly testBranch: string }>;

type TestRef = Pick<BodyOf<'listTestRuns'>, 'repo' | 'org_url_slug' | 'test_id'>;

interface Given {
  readonly repo?: string;
  readonly branch?: string;
  readonly pr: number;
  readonly test_run?: string;
}

const LOG_TAIL = 6000;
const DAY_MS = 86_400_000;
/** Each costs a request. */
const MAX_TESTS = 10;
/** The first lines tell what happened; ten such texts must fit. */
const MAX_FAILURE = 500;

export async function explainFailure(session: Session, given: Given): Promise<readonly Part[]> {
  const { context } = session;
  const place = await session.findPlace(given);
  const detail = { includeExplanation: true, includeTimeline: true, includeResult: true };
  const entry = await context.call('getSubmittedPullRequest', { ...place, pr: { number: given.pr }, ...detail });
  const { state, stateChangedAt, prTitle, prSha, explanation, timeline = [], result } = entry;
  const about = {
    title: `Pull request ${given.pr}:`,
    data: present({ state, stateChangedAt, prTitle, prSha, explanation }),
  };
  const { conflict } = result ?? {};
  const sides = conflict === undefined ? [] : [{ title: 'The conflict, with both sides:', data: conflict }];
  const testRunId = given.test_run ?? findFailedRun(timeline);
  if (testRunId === undefined)
    return [{ ...about, title: `No test run of pull request ${given.pr} failed. Where it stands:` }, ...sides];
  const run = (await context.call('getMergeQueueTestingDetails', { ...place, testRunId })) as TestRun;
  const { checkSuites, statusChecks, version: _, ...facts } = run;
  const checks = checkSuites.flatMap(({ checkRuns }) => checkRuns);
  // A run that could not be built has no checks: the explanation tells of its conflict.
  const [, log] = checks.length === 0 ? [] : await readLogTail(context, { testRunId }, LOG_TAIL);
  return [
    about,
    ...sides,
    {
      title: 'Its test run and the checks:',
      data: { ...facts, checks, ...(statusChecks.length > 0 && { statusChecks }) },
    },
    await listFailedTests(session, given, run).catch(describeUnknownTests),
    ...(log === undefined ? [] : [log]),
  ];
}

/** The newest run that is told of together with failed checks, else that of the newest failure. */
function findFailedRun(timeline: Timeline): string | undefined {
  const withRun = timeline.filter(({ testRunId }) => testRunId !== undefined);
  const byChecks = withRun.find(({ checks = [] }) => checks.length > 0);
  return (byChecks ?? withRun.find(({ state }) => state === 'FAILED' || state === 'PENDING_FAILURE'))?.testRunId;
}

/** An organization without tests, or a token that may not read them: the rest of the answer still counts. */
function describeUnknownTests(error: unknown): Part {
  if (!(error instanceof CliError)) throw error;
  return { title: 'The tests that failed cannot be read:', data: error.message };
}

/** Tests whose failures were uploaded for the branch of the run; the others that failed meanwhile by name only. */
async function listFailedTests(session: Session, given: Given, run: TestRun): Promise<Part> {
  const { context } = session;
  const scope = await session.findScope(given);
  const start = Date.parse(run.createdAt ?? '') || Date.now() - DAY_MS;
  const range = { start_time: new Date(start).toISOString(), end_time: new Date(start + DAY_MS).toISOString() };
  const page_query = { page_size: MAX_TESTS };
  const { tests, page } = await context.call('listFailingTests', { ...scope, ...range, page_query });
  const rows = await Promise.all(
    tests.map(async ({ id, name, status, file_path }) => {
      const failure = await readFailure(context, { ...scope, test_id: id }, run.testBranch);
      return { id, name, file_path, status: status.value, whyStatus: status.reason, failure };
    }),
  );
  const inRun = rows.filter(({ failure }) => failure !== undefined);
  const elsewhere = rows.filter(({ failure }) => failure === undefined);
  return {
    title:
      `Tests whose failures were uploaded within a day from its start (${page.total_rows}, here ${rows.length}). ` +
      'inRun: they failed in this run. elsewhere: only in other runs of the repository.',
    data: { inRun, elsewhere },
  };
}

/** The message of the newest failure on the branch; undefined if there is none. */
async function readFailure(context: Context, test: TestRef, branch: string): Promise<string | undefined> {
  const query = { branch, conclusion: 'FAILURE' as const, include_failure_text: true, page_query: { page_size: 1 } };
  const [first] = (await context.call('listTestRuns', { ...test, ...query })).test_runs;
  return first === undefined
    ? undefined
    : (first.failure_text ?? first.failure_summary ?? 'no message').slice(0, MAX_FAILURE);
}
