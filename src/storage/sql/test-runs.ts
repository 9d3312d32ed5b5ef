import type { RunCounts, TestExecution, TestRunList, TestRunQuery } from '../tests.ts';
import { RUN_CONCLUSIONS } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import { callOf, type StatementCompiler } from './statement.ts';
import { FAILURE, RUN_COLUMNS, type RunRow, SKIPPED, STORED_RUNS, SUCCESS, toRun } from './stored-runs.ts';
import { toFacts } from './test-rows.ts';
import type { BATCH_FACTS } from './test-tables.ts';

type Statements = ReturnType<typeof testRunStatements>;
export type NumberStatements = Pick<Statements, 'findNumbers'>;

/** Tests are numbered from 1. */
const NO_TEST = 0;

export function* listRuns(statements: Statements, query: TestRunQuery): Operation<TestRunList> {
  const { repositoryId, testId, branch } = query;
  const test = (yield* allOf(statements.findNumbers({ repositoryId }, [testId])))[0];
  if (test === undefined) return { totalRows: 0, runs: [] };
  const wanted = { ...query, ...conclusionsOf(query), testNo: test.no, branch: branch ?? '' };
  const { list, count } = branch === null ? statements.runsOfAnyBranch : statements.runsOfBranch;
  const rows: readonly PageRow[] = yield* all(list, wanted);
  const totalRows = rows[0]?.total ?? (query.offset === 0 ? 0 : ((yield* first(count, wanted))?.total ?? 0));
  const failures = yield* findFailures(statements, { repositoryId, testNo: test.no, rows });
  return { totalRows, runs: rows.map((row) => viewOf(row, failures)) };
}

interface Conclusions {
  readonly fromConclusion: number;
  readonly toConclusion: number;
}

function conclusionsOf({ conclusion }: TestRunQuery): Conclusions {
  if (conclusion === null) return { fromConclusion: 0, toConclusion: RUN_CONCLUSIONS.length };
  const only = RUN_CONCLUSIONS.indexOf(conclusion);
  return { fromConclusion: only, toConclusion: only };
}

interface PageRow extends RunRow, Pick<Schema['test_batches'], keyof typeof BATCH_FACTS> {
  /** Rows of the whole list. */
  readonly total: number;
  /** How many failures of its test are before it in its batch at that instant. */
  readonly nth: number;
}

type FailureTexts = Pick<Schema['test_failures'], 'seq' | 'started_at' | 'summary'> &
  Pick<Schema['test_failure_texts'], 'text'>;
/** By batch and start. */
type Failures = ReadonlyMap<string, readonly FailureTexts[]>;

function viewOf(row: PageRow, failures: Failures): TestExecution {
  const { testNo: _, ...run } = toRun(row);
  const { branch, sha, prNumber, jobName, jobUrl, uploadId, flaw } = toFacts(row);
  // The n-th run that failed in its batch at an instant is the n-th failure there.
  const failure = run.conclusion === 'FAILURE' ? failures.get(placeOf(row))?.[row.nth] : undefined;
  return {
    ...run,
    ...{ branch, sha, prNumber, jobName, jobUrl, uploadId, flaw },
    failureSummary: failure?.summary ?? null,
    failureText: failure?.text ?? null,
  };
}

function placeOf({ seq, started_at }: Pick<RunRow, 'seq' | 'started_at'>): string {
  return `${seq} ${started_at}`;
}

function* findFailures(
  statements: Statements,
  of: { readonly repositoryId: string; readonly testNo: number; readonly rows: readonly PageRow[] },
): Operation<Failures> {
  const { repositoryId, testNo } = of;
  const failing = of.rows.filter(({ conclusion }) => conclusion === FAILURE);
  const starts = failing.map(({ started_at }) => started_at);
  const place = { repositoryId, testNo, from: Math.min(...starts), until: Math.max(...starts) };
  const seqs = [...new Set(failing.map(({ seq }) => seq))];
  return Map.groupBy(yield* allOf(statements.findFailureTexts(place, seqs)), placeOf);
}

export function* countRuns(
  statements: Statements,
  repositoryId: string,
  tests: readonly { readonly testId: string; readonly since: number }[],
): Operation<readonly RunCounts[]> {
  const ids = [...new Set(tests.map(({ testId }) => testId))];
  const numbers = new Map((yield* allOf(statements.findNumbers({ repositoryId }, ids))).map(({ id, no }) => [id, no]));
  const calls = tests.map(({ testId, since }) =>
    callOf(statements.countRuns, { repositoryId, testNo: numbers.get(testId) ?? NO_TEST, since }),
  );
  return (yield* allOf(calls)).map(({ last_run_at: lastRunAt, ...counts }) => ({ ...counts, lastRunAt }));
}

const WANTED = `${STORED_RUNS} and runs.test_no = :testNo and runs.seq <= :watermark
  and runs.conclusion >= :fromConclusion and runs.conclusion <= :toConclusion` as const;
const OF_BRANCH = `${WANTED} and exists (
  select own.seq from test_batches as own
  where own.repository_id = :repositoryId and own.seq = runs.seq and own.branch = :branch)` as const;
/** Narrow rows are sorted and cut to the page before their batches join them. */
const PAGE = `select test_batches.upload_id, test_batches.branch, test_batches.sha, test_batches.job,
    test_batches.job_attempt, test_batches.job_name, test_batches.job_url, test_batches.pr_number, test_batches.flaw,
    test_batches.tree, test_batches.candidate_id,
    page.test_no, page.started_at, page.seq, page.ordinal, page.conclusion, page.duration_us, page.is_quarantined,
    page.total, coalesce((
      select count(*) from runs as before
      where before.part = page.part and before.test_no = page.test_no and before.started_at = page.started_at
      and before.seq = page.seq and before.ordinal < page.ordinal and before.conclusion = ${FAILURE}), 0) as nth
  from (select runs.part, ${RUN_COLUMNS}, count(*) over () as total` as const;
const CUT = `order by runs.started_at desc, runs.seq desc, runs.ordinal desc limit :limit offset :offset) as page
  cross join test_batches where test_batches.repository_id = :repositoryId and test_batches.seq = page.seq
  order by page.started_at desc, page.seq desc, page.ordinal desc` as const;

export function testRunStatements({ sql, sqlOfMany }: StatementCompiler) {
  return {
    findNumbers: sqlOfMany('select id, no from tests where repository_id = :repositoryId and id in (:items)'),
    /** One row, also of no runs. */
    countRuns: sql(`
      select count(*) filter (where runs.conclusion = ${SUCCESS}) as passes,
        count(*) filter (where runs.conclusion = ${FAILURE}) as failures, max(runs.started_at) as last_run_at
      ${STORED_RUNS} and runs.test_no = :testNo and runs.conclusion <> ${SKIPPED}`),
    runsOfAnyBranch: {
      count: sql(`select count(*) as total ${WANTED}`),
      list: sql(`${PAGE} ${WANTED} ${CUT}`),
    },
    runsOfBranch: {
      count: sql(`select count(*) as total ${OF_BRANCH}`),
      list: sql(`${PAGE} ${OF_BRANCH} ${CUT}`),
    },
    findFailureTexts: sqlOfMany(`
      select test_failures.seq, test_failures.started_at, test_failures.summary, texts.text
      from test_failures cross join test_failure_texts as texts
      where test_failures.repository_id = :repositoryId and test_failures.test_no = :testNo
      and test_failures.started_at >= :from and test_failures.started_at <= :until
      and test_failures.seq in (:items) and texts.repository_id = :repositoryId
      and texts.seq = test_failures.seq and texts.ordinal = test_failures.ordinal
      order by test_failures.started_at, test_failures.seq, test_failures.ordinal`),
  };
}
