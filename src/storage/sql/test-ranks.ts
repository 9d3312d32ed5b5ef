import { countRuns } from '../../flaky/daily-counts.ts';
import type { RepositoryId } from '../repositories.ts';
import type { RankedTest, RankedTests, RankedTestsQuery, StatusCounts, TestOrder, TestRow } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { Statement, StatementCompiler } from './statement.ts';
import { RUN_COLUMNS, toRun, UNCOUNTED_BATCHES, UNCOUNTED_RUNS } from './stored-runs.ts';
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
export function rankStatements({ sql, sqlOfMany, raw }: StatementCompiler) {
  const made = new Map<string, Statement<RankArgs, RankRow>>();
  return {
    rank(query: RankedTestsQuery): Statement<RankArgs, RankRow> {
      const text = rankText(query);
      const statement = made.get(text) ?? raw<RankArgs, RankRow>(text);
      made.set(text, statement);
      return statement;
    },
    countAllTests: sqlOfMany(
      'select repository_id, test_count from test_sequences where repository_id in (:items) and test_count > 0',
    ),
    countByKind: sqlOfMany(`
      select repository_id, kind, count(*) as total from test_states
      where repository_id in (:items) and kind in ('FLAKY', 'BROKEN') and to_seq is null
      group by repository_id, kind`),
    readRanked: sqlOfMany(`
      select tests.*, test_memories.days, test_figures.pull_requests, test_figures.last_failure_at,
        test_memories.seq as counted
      from tests cross join test_figures cross join test_memories
      where tests.repository_id = :repositoryId and tests.no in (:items)
      and test_figures.repository_id = tests.repository_id and test_figures.test_no = tests.no
      and test_memories.repository_id = tests.repository_id and test_memories.test_no = tests.no`),
    /** Most of the time there is none, and no part of the runs need be searched. */
    findUncounted: sql(`select test_batches.seq ${UNCOUNTED_BATCHES} limit 1`),
    readUncounted: sqlOfMany(`
      select ${RUN_COLUMNS}, coalesce((
        select received_at from test_batches
        where test_batches.repository_id = :repositoryId and test_batches.seq = runs.seq), 0) as received_at
      ${UNCOUNTED_RUNS} and runs.test_no in (:items)`),
  };
}

/** Writing an index for each order would cost more than reading. A page behind the end is one row without a test. */
function rankText({ order, status, isQuarantined, owner, text }: RankedTestsQuery): string {
  const own = 'repository_id = :repositoryId';
  const conditions = [
    own,
    ...(status === null ? [] : ['status = :status']),
    ...(isQuarantined === null ? [] : [isQuarantined ? 'is_quarantined' : 'not is_quarantined']),
    ...(owner === null ? [] : [`test_no in (select test_no from test_owners where ${own} and owner = :owner)`]),
    ...(text === null
      ? []
      : [`test_no in (select no from tests where ${own} and search_text like :pattern escape '!')`]),
  ];
  const columns = ORDERS[order];
  const keys = [...columns.map((column) => `${column} desc`), 'test_no'].join(', ');
  return `with found as materialized (
      select test_no, ${columns.join(', ')} from test_figures where ${conditions.join(' and ')}
    )
    select total, test_no from (select count(*) as total from found) as counted
    left join (select * from found order by ${keys} limit :limit offset :offset) as page on true
    order by ${keys}`;
}
