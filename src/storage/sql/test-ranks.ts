/**
 * Lists tests in the order of one of their figures. Few tests have a mark (flaky, broken or quarantined): an index has
 * these with all figures. Few numbers, those of an owner or of tests that contain a text, are looked up one by one. Else the
 * query walks along the index of the order, which has what status and quarantine are filtered by, until the page is full.
 */
import { type RawBuilder, sql } from 'kysely';
import { addCounts, countRuns, type DailyCounts } from '../../flaky/daily-counts.ts';
import type { RepositoryId } from '../repositories.ts';
import type { RankedTest, RankedTests, RankedTestsQuery, StatusCounts, TestOrder, TestRow } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, Statement, StatementCompiler } from './statement.ts';
import { RUN_COLUMNS, toRun, uncountedBatches, uncountedRuns } from './stored-runs.ts';
import type { NamedTests } from './test-names.ts';
import { toTest } from './test-rows.ts';

export type RankStatements = ReturnType<typeof rankStatements>;

/** PostgreSQL looks up so many in ten milliseconds. Of 200,000 tests, every hundredth fits then: walking is as fast. */
const MOST_LOOKED_UP = 2_000;

/** As the indexes of `test_figures` have them. */
const ORDERS: Readonly<Record<TestOrder, readonly (keyof Figures & string)[]>> = {
  PULL_REQUESTS: ['pull_requests', 'failures'],
  FAILURES: ['failures'],
  FAILURE_RATE: ['failure_ppm', 'failures'],
  DURATION: ['duration_us'],
  LAST_FAILURE: ['last_failure_at'],
};

type Figures = Schema['test_figures'];
type Kind = Schema['test_states']['kind'];
type Filters = Pick<RankedTestsQuery, 'status' | 'isQuarantined' | 'owner'>;
type Repository = { repositoryId: string };
type RankArgs = Repository & {
  status: string;
  owner: string;
  /** As JSON. */
  numbers: string;
  limit: number;
  offset: number;
};

interface Found {
  readonly numbers: readonly number[];
  readonly totalRows: number;
}

// SPEC F60
export function* rankTests(
  statements: RankStatements,
  query: RankedTestsQuery,
  named: NamedTests | undefined,
): Operation<RankedTests> {
  // Nothing stored holds it.
  if (`${query.owner}`.includes('\0')) return { totalRows: 0, tests: [] };
  const { numbers, totalRows } = yield* findNumbers(statements, query, named);
  return { totalRows, tests: yield* readRanked(statements, query.repositoryId, numbers) };
}

function* findNumbers(
  statements: RankStatements,
  query: RankedTestsQuery,
  named: NamedTests | undefined,
): Operation<Found> {
  const args = argsOf(query);
  if (isMarked(query)) {
    const marked = yield* listNumbers(statements.listMarked(query, query.order), args);
    return cut(named === undefined ? marked : marked.filter(named.has), query);
  }
  const owned = query.owner === null ? undefined : yield* listNumbers(statements.listOwned, args);
  const wanted = owned === undefined || named === undefined ? (owned ?? named?.numbers) : owned.filter(named.has);
  if (wanted !== undefined && wanted.length <= MOST_LOOKED_UP) {
    return cut(
      yield* listNumbers(statements.lookUp(query, query.order), { ...args, numbers: JSON.stringify(wanted) }),
      query,
    );
  }
  const all = wanted?.length ?? (yield* first(statements.countTests, args))?.test_count ?? 0;
  const leftOut = isAnyMark(query) ? [] : yield* listNumbers(statements.listLeftOut(query), args);
  const totalRows = all - (named === undefined ? leftOut : leftOut.filter(named.has)).length;
  if (query.offset >= totalRows) return { numbers: [], totalRows };
  if (named === undefined) return { numbers: yield* walk(statements, query, args), totalRows };
  const most = owned?.length ?? named.numbers.at(-1) ?? 0;
  return { numbers: yield* walkNamed(statements, query, { named, share: all / most }), totalRows };
}

function argsOf({ repositoryId, status, owner, limit, offset }: RankedTestsQuery): RankArgs {
  return { repositoryId, status: status ?? '', owner: owner ?? '', numbers: '[]', limit, offset };
}

/** Whether the query is about tests with a mark, of which there are few: most are healthy, and not quarantined. */
function isMarked({ status, isQuarantined }: Filters): boolean {
  return status === 'FLAKY' || status === 'BROKEN' || isQuarantined === true;
}

function isAnyMark({ status, isQuarantined }: Filters): boolean {
  return status === null && isQuarantined === null;
}

function* listNumbers(statement: Statement<RankArgs, Listed>, args: RankArgs): Operation<readonly number[]> {
  return JSON.parse((yield* first(statement, args))?.numbers ?? '[]') as readonly number[];
}

function cut(all: readonly number[], { offset, limit }: RankedTestsQuery): Found {
  return { numbers: all.slice(offset, offset + limit), totalRows: all.length };
}

function* walk(statements: RankStatements, query: RankedTestsQuery, args: RankArgs): Operation<readonly number[]> {
  return (yield* all(statements.walk(query, query.order), args)).map(({ test_no }) => test_no);
}

/** Of tests that contain a text, with the share of them that is expected along the way. */
function* walkNamed(
  statements: RankStatements,
  query: RankedTestsQuery,
  { named, share }: { readonly named: NamedTests; readonly share: number },
): Operation<readonly number[]> {
  const until = query.offset + query.limit;
  const numbers: number[] = [];
  let limit = Math.ceil((2 * until) / share);
  for (let offset = 0; numbers.length < until; offset += limit, limit *= 2) {
    const walked = yield* walk(statements, query, { ...argsOf(query), limit, offset });
    for (const testNo of walked) if (named.has(testNo)) numbers.push(testNo);
    if (walked.length < limit) break;
  }
  return numbers.slice(query.offset, until);
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
  let days = JSON.parse(row.days) as DailyCounts;
  let lastFailureAt = row.last_failure_at;
  for (const run of uncounted.filter(({ seq }) => seq > row.counted)) {
    const { conclusion, startedAt, durationMs } = toRun(run);
    days = addCounts(days, countRuns([{ conclusion, startedAt, durationMs }], run.received_at));
    if (conclusion === 'FAILURE') lastFailureAt = Math.max(lastFailureAt, Math.min(startedAt, run.received_at));
  }
  const test: TestRow = toTest(row);
  return { test, days, pullRequests: row.pull_requests, lastFailureAt: lastFailureAt === 0 ? null : lastFailureAt };
}

type Listed = { readonly numbers: string | null };

/** Statements with filters are compiled for the filters of a query, at its first use. */
export function rankStatements(compiler: StatementCompiler) {
  const made = new Map<string, Statement<RankArgs, never>>();
  const make = <Row>(kind: string, query: Filters, text: (param: Placeholders<RankArgs>) => RawBuilder<Row>) => {
    const { status, isQuarantined, owner } = query;
    const key = JSON.stringify([kind, status !== null, isQuarantined, owner !== null]);
    const { builder } = compiler.dialect;
    const build = (param: Placeholders<RankArgs>) => ({ compile: () => text(param).compile(builder) });
    const statement = made.get(key) ?? compiler.statement<RankArgs>()(build);
    made.set(key, statement as Statement<RankArgs, never>);
    return statement as Statement<RankArgs, Row>;
  };
  const { hasArrays } = compiler.dialect;
  const none = { status: null, isQuarantined: null, owner: null };
  return {
    walk: (query: Filters, order: TestOrder) => make(`walk ${order}`, query, (param) => walkText(query, order, param)),
    listMarked: (query: Filters, order: TestOrder) =>
      make(`marked ${order}`, query, (param) => {
        const conditions = [HAS_MARK, ...marksOf(query, param), ...ownedBy(query, param)];
        return listText(hasArrays, { conditions: [ofRepository(param), ...conditions], order });
      }),
    listLeftOut: (query: Filters) =>
      make('left out', query, (param) => {
        const conditions = [HAS_MARK, sql`not (${sql.join(marksOf(query, param), and)})`, ...ownedBy(query, param)];
        return listText(hasArrays, { conditions: [ofRepository(param), ...conditions] });
      }),
    lookUp: (query: Filters, order: TestOrder) =>
      make(`look up ${order}`, query, (param) => {
        const conditions = [isOneOf(hasArrays, param), ...marksOf(query, param)];
        return listText(hasArrays, { conditions: [ofRepository(param), ...conditions], order });
      }),
    listOwned: make('owned', none, (param) =>
      listText(hasArrays, { table: 'test_owners', conditions: [owned(param)] }),
    ),
    ...countStatements(compiler),
    ...readStatements(compiler),
  };
}

type Fragment = RawBuilder<unknown>;

const and = sql` and `;
/** As the index of these says it. */
const HAS_MARK = sql`(status <> 'HEALTHY' or is_quarantined)`;

const ofRepository = (param: Placeholders<RankArgs>) => sql`repository_id = ${param('repositoryId')}`;

function keysOf(order: TestOrder): Fragment {
  return sql.join([...ORDERS[order].map((key) => sql`${sql.ref(key)} desc`), sql`test_no`]);
}

function walkText(query: Filters, order: TestOrder, param: Placeholders<RankArgs>) {
  const conditions = [ofRepository(param), ...marksOf(query, param), ...ownedBy(query, param)];
  return sql<Pick<Figures, 'test_no'>>`select test_no from test_figures where ${sql.join(conditions, and)}
    order by ${keysOf(order)} limit ${param('limit')} + 0 offset ${param('offset')}`;
}

/** All numbers as one text, which takes a third of the time of as many rows. */
function listText(
  hasArrays: boolean,
  of: { readonly table?: string; readonly conditions: readonly Fragment[]; readonly order?: TestOrder },
) {
  const { table = 'test_figures', conditions, order } = of;
  const sorted = order === undefined ? sql`test_no` : sql`test_no order by ${keysOf(order)}`;
  const numbers = hasArrays ? sql`json_agg(${sorted})::text` : sql`json_group_array(${sorted})`;
  return sql<Listed>`select ${numbers} as numbers from ${sql.table(table)} where ${sql.join(conditions, and)}`;
}

function owned(param: Placeholders<RankArgs>): Fragment {
  return sql`${ofRepository(param)} and owner = ${param('owner')}`;
}

/** In parentheses, so that the numbers are read once and the order is walked along. */
function ownedBy({ owner }: Filters, param: Placeholders<RankArgs>): readonly Fragment[] {
  return owner === null ? [] : [sql`(test_no in (select test_no from test_owners where ${owned(param)})) is true`];
}

function isOneOf(hasArrays: boolean, param: Placeholders<RankArgs>): Fragment {
  const numbers = param('numbers');
  return hasArrays
    ? sql`test_no = any(translate(${numbers}::text, '[]', '{}')::bigint[])`
    : sql`test_no in (select value from json_each(${numbers}))`;
}

function marksOf({ status, isQuarantined }: Filters, param: Placeholders<RankArgs>): readonly Fragment[] {
  const not = isQuarantined === false ? sql`not` : sql``;
  return [
    ...(status === null ? [] : [sql`status = ${param('status')}`]),
    ...(isQuarantined === null ? [] : [sql`${not} is_quarantined`]),
  ];
}

function countStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    countTests: compiler.statement<Repository>()((param) =>
      builder.selectFrom('test_sequences').select('test_count').where('repository_id', '=', param('repositoryId')),
    ),
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
