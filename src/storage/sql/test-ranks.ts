import { type RawBuilder, sql } from 'kysely';
import { countRuns } from '../../flaky/daily-counts.ts';
import type { RepositoryId } from '../repositories.ts';
import type { RankedTest, RankedTests, RankedTestsQuery, StatusCounts, TestOrder, TestRow } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, Statement, StatementCompiler } from './statement.ts';
import { RUN_COLUMNS, toRun, uncountedBatches, uncountedRuns } from './stored-runs.ts';
import { patternOf, toTest } from './test-rows.ts';

type RankStatements = ReturnType<typeof rankStatements>;

const ORDERS: Readonly<Record<TestOrder, readonly (keyof Figures & string)[]>> = {
  PULL_REQUESTS: ['pull_requests', 'failures'],
  FAILURES: ['failures'],
  FAILURE_RATE: ['failure_ppm', 'failures'],
  DURATION: ['duration_us'],
  LAST_FAILURE: ['last_failure_at'],
};

type Figures = Schema['test_figures'];
type Kind = Schema['test_states']['kind'];
type Repository = { repositoryId: string };
type RankArgs = Repository & { status: string; owner: string; pattern: string; limit: number; offset: number };
type RankRow = { readonly total: number; readonly test_no: number | null };

// SPEC F60
export function* rankTests(statements: RankStatements, query: RankedTestsQuery): Operation<RankedTests> {
  const { repositoryId, status, owner, text, limit, offset } = query;
  // Nothing stored holds it.
  if (`${owner}${text}`.includes('\0')) return { totalRows: 0, tests: [] };
  const args = {
    repositoryId,
    status: status ?? '',
    owner: owner ?? '',
    pattern: patternOf(text ?? ''),
    limit,
    offset,
  };
  const rows = yield* all(statements.rank(query), args);
  const numbers = rows.flatMap(({ test_no }) => test_no ?? []);
  return { totalRows: rows[0]?.total ?? 0, tests: yield* readRanked(statements, repositoryId, numbers) };
}

export function* countByStatus(
  statements: RankStatements,
  repositoryIds: readonly RepositoryId[],
): Operation<readonly StatusCounts[]> {
  const all = yield* allOf(statements.countAllTests({}, repositoryIds));
  const states = yield* allOf(statements.countByKind({}, repositoryIds));
  const of = (id: string, kind: Kind) =>
    states.find((row) => row.repository_id === id && row.kind === kind)?.total ?? 0;
  return all.map(({ repository_id: id, test_count }) => ({
    ...{ repositoryId: id as RepositoryId, all: test_count },
    ...{ flaky: of(id, 'FLAKY'), broken: of(id, 'BROKEN') },
  }));
}

export function* readRanked(
  statements: RankStatements,
  repositoryId: string,
  numbers: readonly number[],
): Operation<readonly RankedTest[]> {
  const rows = yield* allOf(statements.readRanked({ repositoryId }, numbers));
  const isPending = (yield* first(statements.findUncounted, { repositoryId })) !== undefined;
  const runs = isPending ? yield* allOf(statements.readUncounted({ repositoryId }, numbers)) : [];
  const runsOf = Map.groupBy(runs, ({ test_no }) => test_no);
  const ranked = new Map(rows.map((row) => [row.no, toRanked(row, runsOf.get(row.no) ?? [])]));
  return numbers.flatMap((no) => ranked.get(no) ?? []);
}

type RankedRow = Schema['tests'] &
  Pick<Figures, 'pull_requests' | 'last_failure_at'> & { readonly days: string; readonly counted: number };
type UncountedRow = Parameters<typeof toRun>[0] & { readonly received_at: number };

/** Adds the runs that the stored figures do not count yet. */
function toRanked(row: RankedRow, uncounted: readonly UncountedRow[]): RankedTest {
  const days = JSON.parse(row.days) as number[];
  let lastFailureAt = row.last_failure_at;
  for (const run of uncounted.filter(({ seq }) => seq > row.counted)) {
    const { conclusion, startedAt, durationMs } = toRun(run);
    countRuns([{ conclusion, startedAt, durationMs }], run.received_at, days);
    if (conclusion === 'FAILURE') lastFailureAt = Math.max(lastFailureAt, Math.min(startedAt, run.received_at));
  }
  const test: TestRow = toTest(row);
  return { test, days, pullRequests: row.pull_requests, lastFailureAt: lastFailureAt === 0 ? null : lastFailureAt };
}

/** Compiled for the order and the filters of a query, at their first use. */
export function rankStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const made = new Map<string, Statement<RankArgs, RankRow>>();
  return {
    rank(query: RankedTestsQuery): Statement<RankArgs, RankRow> {
      const { order, status, isQuarantined, owner, text } = query;
      const key = JSON.stringify([order, status !== null, isQuarantined, owner !== null, text !== null]);
      const build = (param: Placeholders<RankArgs>) => ({ compile: () => rankText(query, param).compile(builder) });
      const statement = made.get(key) ?? compiler.statement<RankArgs>()(build);
      made.set(key, statement);
      return statement;
    },
    ...countStatements(compiler),
    ...readStatements(compiler),
  };
}

/**
 * Reads the figures of all tests of the repository. An index for each order would be written with every failure, and
 * takes longer there than a page of 200,000 tests takes without it. A page behind the end is one row without a test.
 */
function rankText({ order, ...filters }: RankedTestsQuery, param: Placeholders<RankArgs>) {
  const columns = sql.join(ORDERS[order].map((key) => sql.ref(key)));
  const keys = sql.join([...ORDERS[order].map((key) => sql`${sql.ref(key)} desc`), sql`test_no`]);
  return sql<RankRow>`with found as materialized (
      select test_no, ${columns} from test_figures where ${sql.join(conditionsOf(filters, param), sql` and `)}
    )
    select total, test_no from (select count(*) as total from found) as counted
    left join (select * from found order by ${keys} limit ${param('limit')} + 0 offset ${param('offset')}) as page on true
    order by ${keys}`;
}

function conditionsOf(
  { status, isQuarantined, owner, text }: Omit<RankedTestsQuery, 'order'>,
  param: Placeholders<RankArgs>,
): readonly RawBuilder<unknown>[] {
  const own = sql`repository_id = ${param('repositoryId')}`;
  const owned = sql`select test_no from test_owners where ${own} and owner = ${param('owner')}`;
  const named = sql`select no from tests where ${own} and search_text like ${param('pattern')} escape '!'`;
  return [
    own,
    ...(status === null ? [] : [sql`status = ${param('status')}`]),
    ...(isQuarantined === null ? [] : [isQuarantined ? sql`is_quarantined` : sql`not is_quarantined`]),
    ...(owner === null ? [] : [sql`test_no in (${owned})`]),
    ...(text === null ? [] : [sql`test_no in (${named})`]),
  ];
}

function countStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    countAllTests: compiler.list<object, string>()((_, repositoryIds) =>
      builder
        .selectFrom('test_sequences')
        .select(['repository_id', 'test_count'])
        .where('repository_id', 'in', repositoryIds)
        .where('test_count', '>', 0),
    ),
    countByKind: compiler.list<object, string>()((_, repositoryIds) =>
      builder
        .selectFrom('test_states')
        .select((eb) => ['repository_id', 'kind', eb.fn.countAll<number>().as('total')])
        .where('repository_id', 'in', repositoryIds)
        .where('kind', 'in', ['FLAKY', 'BROKEN'])
        .where('to_seq', 'is', null)
        .groupBy(['repository_id', 'kind']),
    ),
  };
}

function readStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    readRanked: compiler.list<Repository, number>()((param, numbers) =>
      builder
        .selectFrom('tests')
        .crossJoin('test_figures')
        .crossJoin('test_memories')
        .where('tests.repository_id', '=', param('repositoryId'))
        .where('tests.no', 'in', numbers)
        .whereRef('test_figures.repository_id', '=', 'tests.repository_id')
        .whereRef('test_figures.test_no', '=', 'tests.no')
        .whereRef('test_memories.repository_id', '=', 'tests.repository_id')
        .whereRef('test_memories.test_no', '=', 'tests.no')
        .selectAll('tests')
        .select(['test_memories.days', 'test_figures.pull_requests', 'test_figures.last_failure_at'])
        .select('test_memories.seq as counted'),
    ),
    /** Most of the time there is none, and no part of the runs need be searched. */
    findUncounted: compiler.statement<Repository>()((param) =>
      uncountedBatches(compiler, param).select('test_batches.seq').limit(1),
    ),
    readUncounted: compiler.list<Repository, number>()((param, numbers) =>
      uncountedRuns(compiler, param)
        .crossJoin('test_batches')
        .where('runs.test_no', 'in', numbers)
        .where('test_batches.repository_id', '=', param('repositoryId'))
        .whereRef('test_batches.seq', '=', 'runs.seq')
        .select(RUN_COLUMNS)
        .select('test_batches.received_at'),
    ),
  };
}
