import type { RunCounts, TestExecution, TestRunList, TestRunQuery } from '../tests.ts';
import { RUN_CONCLUSIONS } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import { callOf, type Placeholders, type StatementCompiler } from './statement.ts';
import { FAILURE, RUN_COLUMNS, type RunRow, SKIPPED, SUCCESS, storedRuns, toRun } from './stored-runs.ts';
import { FACT_COLUMNS, toFacts } from './test-rows.ts';

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

interface PageRow extends RunRow, Pick<Schema['test_batches'], (typeof FACT_COLUMNS)[number]> {
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
  return (yield* allOf(calls)).map(({ passes, failures, lastRunAt }) => ({ passes, failures, lastRunAt }));
}

export function testRunStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type OfTest = { repositoryId: string; testNo: number; since: number };
  return {
    findNumbers: compiler.list<{ repositoryId: string }, string>()((param, ids) =>
      builder
        .selectFrom('tests')
        .select(['id', 'no'])
        .where('repository_id', '=', param('repositoryId'))
        .where('id', 'in', ids),
    ),
    /** One row, also of no runs. */
    countRuns: compiler.statement<OfTest>()((param) =>
      storedRuns(compiler, param)
        .where('runs.test_no', '=', param('testNo'))
        .where('runs.conclusion', '<>', SKIPPED)
        .select(({ fn }) => [
          fn.countAll<number>().filterWhere('runs.conclusion', '=', SUCCESS).as('passes'),
          fn.countAll<number>().filterWhere('runs.conclusion', '=', FAILURE).as('failures'),
          fn.max<number | null>('runs.started_at').as('lastRunAt'),
        ]),
    ),
    runsOfAnyBranch: listStatements(compiler, false),
    runsOfBranch: listStatements(compiler, true),
    findFailureTexts: failureTexts(compiler),
  };
}

type ListArgs = Omit<TestRunQuery, 'branch'> & Conclusions & { readonly testNo: number; readonly branch: string };

/** Narrow rows are sorted and cut to the page before their batches join them. */
function listStatements(compiler: StatementCompiler, isOfBranch: boolean) {
  const { builder } = compiler.dialect;
  const wanted = (param: Placeholders<ListArgs>) =>
    storedRuns(compiler, param)
      .where('runs.test_no', '=', param('testNo'))
      .where('runs.seq', '<=', param('watermark'))
      .where('runs.conclusion', '>=', param('fromConclusion'))
      .where('runs.conclusion', '<=', param('toConclusion'))
      .$if(isOfBranch, (query) =>
        query.where(({ exists, selectFrom }) =>
          exists(
            selectFrom('test_batches as own')
              .select('own.seq')
              .where('own.repository_id', '=', param('repositoryId'))
              .whereRef('own.seq', '=', 'runs.seq')
              .where('own.branch', '=', param('branch')),
          ),
        ),
      );
  return {
    count: compiler.statement<ListArgs>()((param) =>
      wanted(param).select((eb) => eb.fn.countAll<number>().as('total')),
    ),
    list: compiler.statement<ListArgs>()((param) =>
      builder
        .selectFrom(
          wanted(param)
            .select((eb) => ['runs.part', ...RUN_COLUMNS, eb.fn.countAll<number>().over().as('total')])
            .orderBy('runs.started_at', 'desc')
            .orderBy('runs.seq', 'desc')
            .orderBy('runs.ordinal', 'desc')
            .limit(param('limit'))
            .offset(param('offset'))
            .as('page'),
        )
        .crossJoin('test_batches')
        .where('test_batches.repository_id', '=', param('repositoryId'))
        .whereRef('test_batches.seq', '=', 'page.seq')
        .select(FACT_COLUMNS.map((column) => `test_batches.${column}` as const))
        .select([
          ...(['page.test_no', 'page.started_at', 'page.seq', 'page.ordinal', 'page.conclusion'] as const),
          ...(['page.duration_us', 'page.is_quarantined', 'page.total'] as const),
        ])
        .select(({ selectFrom }) =>
          selectFrom('runs as before')
            .select((eb) => eb.fn.countAll<number>().as('count'))
            .whereRef('before.part', '=', 'page.part')
            .whereRef('before.test_no', '=', 'page.test_no')
            .whereRef('before.started_at', '=', 'page.started_at')
            .whereRef('before.seq', '=', 'page.seq')
            .whereRef('before.ordinal', '<', 'page.ordinal')
            .where('before.conclusion', '=', FAILURE)
            .$asScalar()
            .$notNull()
            .as('nth'),
        )
        .orderBy('page.started_at', 'desc')
        .orderBy('page.seq', 'desc')
        .orderBy('page.ordinal', 'desc'),
    ),
  };
}

function failureTexts(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Failing = { repositoryId: string; testNo: number; from: number; until: number };
  return compiler.list<Failing, number>()((param, seqs) =>
    builder
      .selectFrom('test_failures')
      .crossJoin('test_failure_texts as texts')
      .select(['test_failures.seq', 'test_failures.started_at', 'test_failures.summary', 'texts.text'])
      .where('test_failures.repository_id', '=', param('repositoryId'))
      .where('test_failures.test_no', '=', param('testNo'))
      .where('test_failures.started_at', '>=', param('from'))
      .where('test_failures.started_at', '<=', param('until'))
      .where('test_failures.seq', 'in', seqs)
      .where('texts.repository_id', '=', param('repositoryId'))
      .whereRef('texts.seq', '=', 'test_failures.seq')
      .whereRef('texts.ordinal', '=', 'test_failures.ordinal')
      .orderBy('test_failures.started_at')
      .orderBy('test_failures.seq')
      .orderBy('test_failures.ordinal'),
  );
}
