/**
 * Lists tests in the order of one of their figures. A query that finds few tests collects them and sorts them here. One
 * that finds many walks along the index of the order until the page is full. Neither reads all tests of a repository,
 * unless a text is looked for.
 */
import { type RawBuilder, sql } from 'kysely';
import { addCounts, countRuns, type DailyCounts } from '../../flaky/daily-counts.ts';
import type { RankedTest, RankedTests, RankedTestsQuery, TestOrder, TestRow } from '../tests.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, Statement, StatementCompiler } from './statement.ts';
import { RUN_COLUMNS, toRun, uncountedRuns } from './stored-runs.ts';
import { patternOf, toTest } from './test-rows.ts';

export type RankStatements = ReturnType<typeof rankStatements>;

/** Sorting so many takes some milliseconds; along the index, more than one in forty of 200,000 tests fits soon. */
const MOST_COLLECTED = 5_000;

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
type Filters = Pick<RankedTestsQuery, 'status' | 'isQuarantined' | 'owner' | 'text'>;
type Repository = { repositoryId: string };
type RankArgs = Repository & { status: string; owner: string; pattern: string; limit: number; offset: number };
type Collected = Pick<Figures, 'test_no' | 'failures' | 'failure_ppm' | 'pull_requests'> &
  Pick<Figures, 'duration_us' | 'last_failure_at'>;

// SPEC F60
export function* rankTests(statements: RankStatements, query: RankedTestsQuery): Operation<RankedTests> {
  // Nothing stored holds it.
  if (`${query.owner}${query.text}`.includes('\0')) return { totalRows: 0, tests: [] };
  const { numbers, totalRows } = yield* findNumbers(statements, query);
  return { totalRows, tests: yield* readRanked(statements, query.repositoryId, numbers) };
}

interface Found {
  readonly numbers: readonly number[];
  readonly totalRows: number;
}

function* findNumbers(statements: RankStatements, query: RankedTestsQuery): Operation<Found> {
  const { repositoryId, order, offset, limit } = query;
  const pattern = patternOf(query.text ?? '');
  const args = { repositoryId, status: query.status ?? '', owner: query.owner ?? '', pattern, limit, offset };
  const source = sourceOf(query);
  if (source !== 'everywhere') {
    const some = yield* all(statements.collect(query), { ...args, limit: MOST_COLLECTED + 1 });
    if (some.length <= MOST_COLLECTED) return cut(some, query);
  }
  const walked = yield* all(statements.walk(query, order), args);
  const totalRows = yield* countAll(statements, query, args);
  return { numbers: walked.map(({ test_no }) => test_no), totalRows };
}

function cut(some: readonly Collected[], { order, offset, limit }: RankedTestsQuery): Found {
  const keys = ORDERS[order] as readonly (keyof Collected)[];
  const compare = (one: Collected, other: Collected) => {
    const key = keys.find((name) => one[name] !== other[name]);
    return key === undefined ? one.test_no - other.test_no : other[key] - one[key];
  };
  const page = some.toSorted(compare).slice(offset, offset + limit);
  return { numbers: page.map(({ test_no }) => test_no), totalRows: some.length };
}

/** The rows that a query begins with: those of which there are fewest. Nearly all tests are healthy, and not quarantined. */
function sourceOf({ owner, text, status, isQuarantined }: Filters): 'owner' | 'text' | 'everywhere' | Kind {
  if (owner !== null) return 'owner';
  if (status === 'FLAKY' || status === 'BROKEN') return status;
  if (isQuarantined === true) return 'QUARANTINED';
  return text === null ? 'everywhere' : 'text';
}

function* countAll(statements: RankStatements, query: RankedTestsQuery, args: RankArgs): Operation<number> {
  if (sourceOf(query) !== 'everywhere') return (yield* first(statements.count(query), args))?.total ?? 0;
  const { status, isQuarantined } = query;
  const all = (yield* first(statements.countTests, args))?.test_count ?? 0;
  const others = [
    ...(status === 'HEALTHY' ? (['FLAKY', 'BROKEN'] as const) : []),
    ...(isQuarantined === false ? (['QUARANTINED'] as const) : []),
  ];
  const [excluded] = others.length === 0 ? [] : yield* allOf(statements.countOfKinds(args, others));
  return all - (excluded?.total ?? 0);
}

function* readRanked(
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

type RankedRow = Schema['tests'] & Pick<Figures, 'days' | 'pull_requests' | 'last_failure_at'> & { counted: number };
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
    const { status, isQuarantined, owner, text: words } = query;
    const key = JSON.stringify([kind, sourceOf(query), status !== null, isQuarantined, owner !== null, words !== null]);
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
    ...countStatements(compiler),
    ...readStatements(compiler),
  };
}

type Fragment = RawBuilder<unknown>;

function walkText(query: Filters, order: TestOrder, param: Placeholders<RankArgs>) {
  const keys = ORDERS[order].map((key) => sql`test_figures.${sql.ref(key)} desc`);
  const filters = conditionsOf(query, param);
  const joined = filters.length === 0 ? sql`` : sql`cross join tests`;
  const join = sql`tests.repository_id = test_figures.repository_id and tests.no = test_figures.test_no`;
  const conditions = [
    sql`test_figures.repository_id = ${param('repositoryId')}`,
    ...(filters.length === 0 ? [] : [join, ...filters]),
  ];
  return sql<Pick<Figures, 'test_no'>>`select test_figures.test_no from test_figures ${joined}
    where ${sql.join(conditions, sql` and `)}
    order by ${sql.join(keys)}, test_figures.test_no limit ${param('limit')} + 0 offset ${param('offset')}`;
}

function collectText(query: Filters, param: Placeholders<RankArgs>) {
  return sql<Collected>`select test_figures.test_no, failures, failure_ppm, pull_requests, duration_us, last_failure_at
    from ${found(query)} cross join test_figures
    where ${sql.join(foundBy(query, param), sql` and `)}
      and test_figures.repository_id = tests.repository_id and test_figures.test_no = tests.no
    limit ${param('limit')} + 0`;
}

function countText(query: Filters, param: Placeholders<RankArgs>) {
  return sql<{ total: number }>`select count(*) as total from ${found(query)}
    where ${sql.join(foundBy(query, param), sql` and `)}`;
}

/** The order of the joins, which SQLite keeps, begins with the fewest rows. */
function found(query: Filters): Fragment {
  const source = sourceOf(query);
  if (source === 'text' || source === 'everywhere') return sql`tests`;
  return source === 'owner' ? sql`test_owners cross join tests` : sql`test_states cross join tests`;
}

function foundBy(query: Filters, param: Placeholders<RankArgs>): readonly Fragment[] {
  const source = sourceOf(query);
  const repositoryId = param('repositoryId');
  const ofRepository = sql`tests.repository_id = ${repositoryId}`;
  // The index by name has the texts. Any name fits, and SQLite then takes that index.
  if (source === 'text' || source === 'everywhere')
    return [ofRepository, sql`tests.name >= ''`, ...conditionsOf(query, param)];
  if (source === 'owner') {
    const joined = sql`tests.no = test_owners.test_no`;
    const owned = sql`test_owners.repository_id = ${repositoryId} and test_owners.owner = ${param('owner')}`;
    return [owned, ofRepository, joined, ...conditionsOf({ ...query, owner: null }, param)];
  }
  const ofKind = sql`test_states.repository_id = ${repositoryId} and test_states.kind = ${sql.lit(source)}`;
  const present = sql`test_states.to_seq is null and tests.id = test_states.test_id`;
  return [ofKind, present, ofRepository, ...conditionsOf(query, param)];
}

function conditionsOf(
  { status, isQuarantined, owner, text }: Filters,
  param: Placeholders<RankArgs>,
): readonly Fragment[] {
  const owned = sql`exists (select 1 from test_owners where test_owners.repository_id = ${param('repositoryId')}
    and test_owners.owner = ${param('owner')} and test_owners.test_no = tests.no)`;
  return [
    ...(text === null ? [] : [sql`tests.search_text like ${param('pattern')} escape '!'`]),
    ...(status === null ? [] : [sql`tests.status = ${param('status')}`]),
    ...(isQuarantined === null ? [] : [sql`tests.quarantined_at is ${isQuarantined ? sql`not null` : sql`null`}`]),
    ...(owner === null ? [] : [owned]),
  ];
}

function countStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    countTests: compiler.statement<Repository>()((param) =>
      builder.selectFrom('test_sequences').select('test_count').where('repository_id', '=', param('repositoryId')),
    ),
    countOfKinds: compiler.list<Repository, Kind>()((param, kinds) =>
      builder
        .selectFrom('test_states')
        .select((eb) => eb.fn.count<number>('test_id').distinct().as('total'))
        .where('repository_id', '=', param('repositoryId'))
        .where('kind', 'in', kinds)
        .where('to_seq', 'is', null),
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
        .select(['test_figures.days', 'test_figures.pull_requests', 'test_figures.last_failure_at'])
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
