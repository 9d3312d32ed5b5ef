/**
 * Lists tests in the order of one of their figures. Where few tests can fit, they are collected and sorted here. Where
 * many can, the query walks along the index of the order, which has what status and quarantine are filtered by, until the
 * page is full. A text is looked for in memory.
 */
import { type RawBuilder, sql } from 'kysely';
import { addCounts, countRuns, type DailyCounts } from '../../flaky/daily-counts.ts';
import type { RepositoryId } from '../repositories.ts';
import type { RankedTest, RankedTests, RankedTestsQuery, StatusCounts, TestOrder, TestRow } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, Statement, StatementCompiler } from './statement.ts';
import { RUN_COLUMNS, toRun, uncountedRuns } from './stored-runs.ts';
import type { NamedTests } from './test-names.ts';
import { toTest } from './test-rows.ts';

export type RankStatements = ReturnType<typeof rankStatements>;

/** Collecting so many takes about ten milliseconds. Of 200,000 tests, every fortieth fits then: walking is as fast. */
const MOST_COLLECTED = 5_000;
/** PostgreSQL takes no larger limit. */
const ALL = 2 ** 31 - 1;

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
type RankArgs = Repository & { status: string; owner: string; limit: number; offset: number };
type FigureName = 'test_no' | 'failures' | 'failure_ppm' | 'pull_requests' | 'duration_us' | 'last_failure_at';
type Collected = Omit<Figures, 'repository_id' | 'first_day'>;

// SPEC F60
export function* rankTests(
  statements: RankStatements,
  query: RankedTestsQuery,
  named: NamedTests | undefined,
): Operation<RankedTests> {
  // Nothing stored holds it.
  if (`${query.owner}`.includes('\0')) return { totalRows: 0, tests: [] };
  const found = named === undefined ? findNumbers(statements, query) : findNamed(statements, query, named);
  const { numbers, totalRows } = yield* found;
  return { totalRows, tests: yield* readRanked(statements, query.repositoryId, numbers) };
}

interface Found {
  readonly numbers: readonly number[];
  readonly totalRows: number;
}

function* findNumbers(statements: RankStatements, query: RankedTestsQuery): Operation<Found> {
  const args = argsOf(query);
  const totalRows = query.owner === null ? yield* countByKinds(statements, query) : undefined;
  if (totalRows === undefined || (kindOf(query) !== undefined && totalRows <= MOST_COLLECTED)) {
    const some = yield* all(statements.collect(query), { ...args, limit: MOST_COLLECTED + 1 });
    if (some.length <= MOST_COLLECTED) return cut(some, query);
  }
  const walked = yield* all(statements.walk(query, query.order), args);
  const total = totalRows ?? (yield* first(statements.count(query), args))?.total ?? 0;
  return { numbers: walked.map(({ test_no }) => test_no), totalRows: total };
}

function argsOf({ repositoryId, status, owner, limit, offset }: RankedTestsQuery): RankArgs {
  return { repositoryId, status: status ?? '', owner: owner ?? '', limit, offset };
}

/** Of tests that contain a text. The smaller of both sides is collected: theirs, or that of the other filters. */
function* findNamed(statements: RankStatements, query: RankedTestsQuery, named: NamedTests): Operation<Found> {
  const isNamed = ({ test_no }: Pick<Figures, 'test_no'>) => named.has(test_no);
  const args = argsOf(query);
  if (query.owner !== null) {
    const owned = yield* all(statements.collect(query), { ...args, limit: ALL });
    return cut(owned.filter(isNamed), query);
  }
  if (named.count <= MOST_COLLECTED) {
    const some = yield* allOf(statements.collectNumbers(args, named.numbers));
    return cut(
      some.filter((row) => isMarked(query, row)),
      query,
    );
  }
  const isOfKind = kindOf(query) !== undefined;
  if (isOfKind && (yield* countByKinds(statements, query)) <= MOST_COLLECTED) {
    const some = yield* all(statements.collect(query), { ...args, limit: ALL });
    return cut(some.filter(isNamed), query);
  }
  const numbers = yield* walkNamed(statements, query, named);
  if (query.status === null && query.isQuarantined === null) return { numbers, totalRows: named.count };
  const few = (yield* all(statements.listFew(query), args)).filter(isNamed).length;
  return { numbers, totalRows: isOfKind ? few : named.count - few };
}

function isMarked({ status, isQuarantined }: Filters, row: Collected): boolean {
  if (status !== null && row.status !== status) return false;
  return isQuarantined === null || Boolean(row.is_quarantined) === isQuarantined;
}

/** Every fortieth test fits at least, so that the first pages end soon. */
function* walkNamed(
  statements: RankStatements,
  query: RankedTestsQuery,
  named: NamedTests,
): Operation<readonly number[]> {
  const until = query.offset + query.limit;
  const numbers: number[] = [];
  for (let offset = 0, limit = 1_000; numbers.length < until; offset += limit, limit *= 2) {
    const walked = yield* all(statements.walk(query, query.order), { ...argsOf(query), limit, offset });
    for (const { test_no } of walked) if (named.has(test_no)) numbers.push(test_no);
    if (walked.length < limit) break;
  }
  return numbers.slice(query.offset, until);
}

function cut(some: readonly Collected[], { order, offset, limit }: RankedTestsQuery): Found {
  const keys = ORDERS[order] as readonly FigureName[];
  const compare = (one: Collected, other: Collected) => {
    const key = keys.find((name) => one[name] !== other[name]);
    return key === undefined ? one.test_no - other.test_no : other[key] - one[key];
  };
  const page = some.toSorted(compare).slice(offset, offset + limit);
  return { numbers: page.map(({ test_no }) => test_no), totalRows: some.length };
}

/** A kind of which there are few tests, if the query is about one: most are healthy, and not quarantined. */
function kindOf({ status, isQuarantined }: Filters): Kind | undefined {
  if (status === 'FLAKY' || status === 'BROKEN') return status;
  return isQuarantined === true ? 'QUARANTINED' : undefined;
}

/** Counts the few tests of a kind, and subtracts them from all where the many are asked for. */
function* countByKinds(
  statements: RankStatements,
  { repositoryId, status, isQuarantined }: RankedTestsQuery,
): Operation<number> {
  const args = { repositoryId };
  const kind = kindOf({ status, isQuarantined, owner: null });
  if (kind !== undefined) {
    const other = kind === 'QUARANTINED' ? status : isQuarantined === null ? null : 'QUARANTINED';
    if (other === null) return (yield* first(statements.countKind, { ...args, kind }))?.total ?? 0;
    const both = (yield* first(statements.countBoth, { ...args, kind, other }))?.total ?? 0;
    if (isQuarantined === true) return both;
    return ((yield* first(statements.countKind, { ...args, kind }))?.total ?? 0) - both;
  }
  const others: Kind[] = [
    ...(status === 'HEALTHY' ? (['FLAKY', 'BROKEN'] as const) : []),
    ...(isQuarantined === false ? (['QUARANTINED'] as const) : []),
  ];
  const [excluded] = others.length === 0 ? [] : yield* allOf(statements.countAny(args, others));
  return ((yield* first(statements.countTests, args))?.test_count ?? 0) - (excluded?.total ?? 0);
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
  const runs = yield* allOf(statements.readUncounted({ repositoryId }, numbers));
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

/** Statements with filters are compiled for the filters of a query, at its first use. */
export function rankStatements(compiler: StatementCompiler) {
  const made = new Map<string, Statement<RankArgs, never>>();
  const make = <Row>(kind: string, query: Filters, text: (param: Placeholders<RankArgs>) => RawBuilder<Row>) => {
    const { status, isQuarantined, owner } = query;
    const key = JSON.stringify([kind, kindOf(query), status !== null, isQuarantined, owner !== null]);
    const { builder } = compiler.dialect;
    const build = (param: Placeholders<RankArgs>) => ({ compile: () => text(param).compile(builder) });
    const statement = made.get(key) ?? compiler.statement<RankArgs>()(build);
    made.set(key, statement as Statement<RankArgs, never>);
    return statement as Statement<RankArgs, Row>;
  };
  return {
    walk: (query: Filters, order: TestOrder) => make(`walk ${order}`, query, (param) => walkText(query, order, param)),
    collect: (query: Filters) => make('collect', query, (param) => collectText(query, param)),
    count: (query: Filters) => make('count', query, (param) => countText(query, param)),
    listFew: (query: Filters) => make('few', query, (param) => fewText(query, param)),
    ...countStatements(compiler),
    ...readStatements(compiler),
  };
}

type Fragment = RawBuilder<unknown>;

const and = sql` and `;

function walkText(query: Filters, order: TestOrder, param: Placeholders<RankArgs>) {
  const keys = ORDERS[order].map((key) => sql`test_figures.${sql.ref(key)} desc`);
  const conditions = [
    sql`test_figures.repository_id = ${param('repositoryId')}`,
    ...marksOf(query, param),
    ...(query.owner === null ? [] : [ownedBy(param)]),
  ];
  return sql<Pick<Figures, 'test_no'>>`select test_figures.test_no from test_figures
    where ${sql.join(conditions, and)}
    order by ${sql.join(keys)}, test_figures.test_no limit ${param('limit')} + 0 offset ${param('offset')}`;
}

const ofFigures = sql`tests.repository_id = test_figures.repository_id and tests.no = test_figures.test_no`;

function ownedBy(param: Placeholders<RankArgs>): Fragment {
  return sql`exists (select 1 from test_owners where test_owners.repository_id = ${param('repositoryId')}
    and test_owners.owner = ${param('owner')} and test_owners.test_no = test_figures.test_no)`;
}

function marksOf({ status, isQuarantined }: Filters, param: Placeholders<RankArgs>): readonly Fragment[] {
  const not = isQuarantined === false ? sql`not` : sql``;
  return [
    ...(status === null ? [] : [sql`test_figures.status = ${param('status')}`]),
    ...(isQuarantined === null ? [] : [sql`${not} test_figures.is_quarantined`]),
  ];
}

const COLLECTED = [
  'test_no',
  'status',
  'is_quarantined',
  'failures',
  'failure_ppm',
  'pull_requests',
  'duration_us',
  'last_failure_at',
] as const;

function collectText(query: Filters, param: Placeholders<RankArgs>) {
  const { tables, conditions } = found(query, param);
  const columns = COLLECTED.map((column) => sql.ref(`test_figures.${column}`));
  return sql<Collected>`select ${sql.join(columns)} from ${tables}
    where ${sql.join(conditions, and)} limit ${param('limit')} + 0`;
}

/** Tests of a kind; of a query for the many, those that it leaves out. */
function fewText(query: Filters, param: Placeholders<RankArgs>) {
  const left = [
    ...(query.status === 'HEALTHY' ? [sql`status <> 'HEALTHY'`] : []),
    ...(query.isQuarantined === false ? [sql`is_quarantined`] : []),
  ];
  const few = kindOf(query) === undefined ? sql.join(left, sql` or `) : sql.join(marksOf(query, param), and);
  return sql<Pick<Figures, 'test_no'>>`select test_no from test_figures
    where repository_id = ${param('repositoryId')} and (${few})`;
}

function countText(query: Filters, param: Placeholders<RankArgs>) {
  const { tables, conditions } = found(query, param);
  return sql<{ total: number }>`select count(*) as total from ${tables} where ${sql.join(conditions, and)}`;
}

/** Tests of an owner, or else of a kind. The order of the joins, which SQLite keeps, begins with the fewest rows. */
function found(query: Filters, param: Placeholders<RankArgs>) {
  const repositoryId = param('repositoryId');
  const own = sql`test_figures.repository_id = ${repositoryId}`;
  const marks = marksOf(query, param);
  if (query.owner !== null) {
    const owned = sql`test_owners.repository_id = ${repositoryId} and test_owners.owner = ${param('owner')}`;
    const conditions = [owned, own, sql`test_figures.test_no = test_owners.test_no`, ...marks];
    return { tables: sql`test_owners cross join test_figures`, conditions };
  }
  const ofKind = sql`test_states.repository_id = ${repositoryId} and test_states.kind = ${sql.lit(kindOf(query) ?? '')}`;
  const present = sql`test_states.to_seq is null and tests.id = test_states.test_id`;
  const conditions = [ofKind, present, sql`tests.repository_id = ${repositoryId}`, own, ofFigures, ...marks];
  return { tables: sql`test_states cross join tests cross join test_figures`, conditions };
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
    countKind: compiler.statement<Repository & { kind: Kind }>()((param) =>
      ofKind(compiler)
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('test_states.repository_id', '=', param('repositoryId'))
        .where('test_states.kind', '=', param('kind')),
    ),
    countAny: compiler.list<Repository, Kind>()((param, kinds) =>
      ofKind(compiler)
        .select((eb) => eb.fn.count<number>('test_states.test_id').distinct().as('total'))
        .where('test_states.repository_id', '=', param('repositoryId'))
        .where('test_states.kind', 'in', kinds),
    ),
    countBoth: compiler.statement<Repository & { kind: Kind; other: Kind }>()((param) =>
      ofKind(compiler)
        .crossJoin('test_states as others')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('test_states.repository_id', '=', param('repositoryId'))
        .where('test_states.kind', '=', param('kind'))
        .where('others.repository_id', '=', param('repositoryId'))
        .where('others.kind', '=', param('other'))
        .whereRef('others.test_id', '=', 'test_states.test_id')
        .where('others.to_seq', 'is', null),
    ),
  };
}

function ofKind({ dialect }: StatementCompiler) {
  return dialect.builder.selectFrom('test_states').where('test_states.to_seq', 'is', null);
}

function readStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    collectNumbers: compiler.list<Repository, number>()((param, numbers) =>
      builder
        .selectFrom('test_figures')
        .select(COLLECTED)
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', numbers),
    ),
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
