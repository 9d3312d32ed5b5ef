/**
 * Keeps the figures of tests: with the memories that count the same runs, in the same transaction, so that after a crash
 * both lack the same runs. A test that only passed keeps its place in every order, so that no index is written for it.
 */
import {
  addCounts,
  type DailyCounts,
  dayOf,
  dayOfRun,
  dropBefore,
  firstFigureDay,
  sumCounts,
} from '../../flaky/daily-counts.ts';
import type { CountedRuns, TestChange, TestMemory } from '../test-ingest.ts';
import { all, allOf, executeAll, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export type FigureStatements = ReturnType<typeof figureStatements>;
type Figures = Schema['test_figures'];
type Stored = Figures & Pick<Schema['test_days'], 'days'>;
type Marks = Pick<Figures, 'status' | 'is_quarantined'>;
type MarkedTest = Pick<Schema['tests'], 'id' | 'no' | 'status' | 'quarantined_at'>;
type Repository = { repositoryId: string };

/** No day of such a test can leave the window. */
const NO_DAY = 1_000_000;

interface Change {
  readonly testNo: number;
  readonly counted?: CountedRuns | undefined;
  /** Pull requests that the test had not hit before. */
  readonly hits?: number;
  readonly marks?: Marks;
  readonly isNew?: boolean;
}

/** The calls that store what a change says about figures. New tests get rows even without a run: lists have them. */
// SPEC F62
export function* figureCalls(
  statements: FigureStatements,
  change: TestChange,
  of: { readonly at: number; readonly tests: readonly MarkedTest[]; readonly known: readonly MarkedTest[] },
): Operation<readonly Call[]> {
  const hit = yield* hitCalls(statements, change, of.at);
  const changes = [
    ...markChanges(of.tests, of.known),
    ...hit.newly.map((testNo): Change => ({ testNo, hits: 1 })),
    ...countChanges(change.memories),
  ];
  return [...(yield* changeFigures(statements, change.repositoryId, changes)), ...hit.calls];
}

export function* memoryFigureCalls(
  statements: FigureStatements,
  repositoryId: string,
  memories: readonly TestMemory[],
): Operation<readonly Call[]> {
  return yield* changeFigures(statements, repositoryId, countChanges(memories));
}

function countChanges(memories: readonly TestMemory[]): readonly Change[] {
  return memories.filter(({ counted }) => counted !== undefined).map(({ testNo, counted }) => ({ testNo, counted }));
}

function markChanges(tests: readonly MarkedTest[], known: readonly MarkedTest[]): readonly Change[] {
  const before = new Map(known.map((test) => [test.id, marksOf(test)]));
  return tests.flatMap((test): Change[] => {
    const marks = marksOf(test);
    const old = before.get(test.id);
    const isSame = old?.status === marks.status && old.is_quarantined === marks.is_quarantined;
    return isSame ? [] : [{ testNo: test.no, marks, isNew: old === undefined }];
  });
}

function marksOf({ status, quarantined_at }: MarkedTest): Marks {
  return { status, is_quarantined: quarantined_at !== null };
}

function* changeFigures(
  statements: FigureStatements,
  repositoryId: string,
  changes: readonly Change[],
): Operation<readonly Call[]> {
  const added = new Set(changes.filter(({ isNew }) => isNew === true).map(({ testNo }) => testNo));
  const numbers = new Set(changes.map(({ testNo }) => testNo)).difference(added);
  const stored = yield* allOf(statements.findFigures({ repositoryId }, [...numbers]));
  const before = new Map(stored.map((row) => [row.test_no, row]));
  const rows = new Map(before);
  for (const change of changes) {
    const row = rows.get(change.testNo) ?? emptyFigures(repositoryId, change.testNo);
    rows.set(change.testNo, changed(row, change));
  }
  return storeCalls(statements, [...rows.values()], before);
}

/** A row that did not change is not written. */
function storeCalls(
  statements: FigureStatements,
  rows: readonly Stored[],
  before: ReadonlyMap<number, Stored>,
): readonly Call[] {
  const moved = rows.filter((row) => hasMoved(row, before.get(row.test_no)));
  const counted = rows.filter((row) => row.days !== before.get(row.test_no)?.days);
  return [...statements.upsertFigures(moved), ...statements.upsertDays(counted)];
}

function emptyFigures(repository_id: string, test_no: number): Stored {
  const marks = { status: 'HEALTHY', is_quarantined: false } as const;
  const keys = { failures: 0, failure_ppm: 0, pull_requests: 0, duration_us: -1, last_failure_at: 0 };
  return { repository_id, test_no, days: '[]', first_day: NO_DAY, ...marks, ...keys };
}

function changed(row: Stored, { counted, hits = 0, marks }: Change): Stored {
  const next = { ...row, ...marks, pull_requests: row.pull_requests + hits };
  if (counted === undefined) return next;
  const last_failure_at = Math.max(row.last_failure_at, counted.lastFailureAt ?? 0);
  return withDays({ ...next, last_failure_at }, addCounts(JSON.parse(row.days) as DailyCounts, counted.days));
}

function withDays(row: Stored, days: DailyCounts): Stored {
  const { runs, failures, durationMs } = sumCounts(days);
  return {
    ...row,
    days: JSON.stringify(days),
    first_day: days[0] ?? NO_DAY,
    failures,
    failure_ppm: runs === 0 ? 0 : Math.round((failures / runs) * 1_000_000),
    duration_us: durationMs === null ? -1 : keepNear(row.duration_us, Math.round(durationMs * 1_000)),
  };
}

/** Passes change an average by little. Within a tenth the test keeps its place, so that no index is written. */
function keepNear(before: number, now: number): number {
  return Math.abs(now - before) * 10 <= before ? before : now;
}

const KEYS = [
  ...(['is_quarantined', 'first_day', 'failures', 'failure_ppm'] as const),
  ...(['pull_requests', 'duration_us', 'last_failure_at'] as const),
];

function hasMoved(row: Stored, before: Stored | undefined): boolean {
  // SQLite answers numbers for booleans.
  return before?.status !== row.status || KEYS.some((key) => Number(row[key]) !== Number(before[key]));
}

/** Notes the pull request of the batch for the tests that blocked it. A batch has one pull request at most. */
function* hitCalls(
  statements: FigureStatements,
  { repositoryId, batch, failures }: TestChange,
  at: number,
): Operation<{ readonly newly: readonly number[]; readonly calls: readonly Call[] }> {
  const prNumber = batch?.facts.prNumber ?? null;
  const days = new Map<number, number>();
  for (const { testNo, startedAt, isBlocking } of prNumber === null ? [] : failures) {
    const day = dayOfRun(startedAt, at);
    if (isBlocking && day >= firstFigureDay(dayOf(at))) days.set(testNo, Math.max(day, days.get(testNo) ?? 0));
  }
  if (prNumber === null || days.size === 0) return { newly: [], calls: [] };
  const known = yield* allOf(statements.findHits({ repositoryId, prNumber }, [...days.keys()]));
  const before = new Map(known.map(({ test_no, day }) => [test_no, day]));
  const rows = [...days].map(([test_no, day]) => ({
    ...{ repository_id: repositoryId, test_no, pr_number: prNumber },
    day: Math.max(day, before.get(test_no) ?? 0),
  }));
  return { newly: [...days.keys()].filter((no) => !before.has(no)), calls: statements.upsertHits(rows) };
}

/** Takes old days out of the figures of some tests of one repository. The lock keeps commits away from them. */
// SPEC F63
export function* rollFigures(
  statements: FigureStatements & { readonly lockSequence: Parameters<typeof first<Repository, unknown>>[0] },
  { now, limit }: { readonly now: number; readonly limit: number },
): Operation<number> {
  const firstDay = firstFigureDay(dayOf(now));
  const oldest = yield* first(statements.findOldest, { firstDay });
  if (oldest === undefined) return 0;
  const { repository_id: repositoryId, first_day } = oldest;
  yield* first(statements.lockSequence, { repositoryId });
  const rows = yield* all(statements.listOldest, { repositoryId, oldDay: first_day, limit });
  const numbers = rows.map(({ test_no }) => test_no);
  yield* allOf(statements.removeHits({ repositoryId, firstDay }, numbers));
  const counts = yield* allOf(statements.countHits({ repositoryId }, numbers));
  const hits = new Map(counts.map(({ test_no, total }) => [test_no, total]));
  const rolled = rows.map((row) => {
    const days = dropBefore(JSON.parse(row.days) as DailyCounts, firstDay);
    return withDays({ ...row, pull_requests: hits.get(row.test_no) ?? 0 }, days);
  });
  yield* executeAll(storeCalls(statements, rolled, new Map()));
  return rolled.length;
}

type Owned = Pick<Schema['tests'], 'id' | 'no' | 'repository_id' | 'codeowners'>;

/** The calls that make tests be found by the owners they have now. */
export function ownerCalls(
  statements: FigureStatements,
  tests: readonly Owned[],
  known: readonly Pick<Owned, 'id' | 'codeowners'>[],
): readonly Call[] {
  const before = new Map(known.map(({ id, codeowners }) => [id, codeowners]));
  const changed = tests.filter(({ id, codeowners }) => before.get(id) !== codeowners);
  const removed = changed.flatMap((test) => ownersOf({ ...test, codeowners: before.get(test.id) ?? '[]' }));
  return [...removeOwnerCalls(statements, removed), ...statements.insertOwners(changed.flatMap(ownersOf))];
}

export function removeOwnerCalls(
  statements: Pick<FigureStatements, 'removeOwner'>,
  rows: readonly Schema['test_owners'][],
): readonly Call[] {
  return rows.map((row) => callOf(statements.removeOwner, row));
}

export function ownersOf({ repository_id, no, codeowners }: Omit<Owned, 'id'>): Schema['test_owners'][] {
  const owners = JSON.parse(codeowners) as readonly string[];
  return [...new Set(owners)].map((owner) => ({ repository_id, owner, test_no: no }));
}

export function figureStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const key = ['repository_id', 'test_no'] as const;
  return {
    findFigures: compiler.list<Repository, number>()((param, numbers) =>
      withStoredDays(compiler)
        .where('test_figures.repository_id', '=', param('repositoryId'))
        .where('test_figures.test_no', 'in', numbers),
    ),
    upsertFigures: compiler.upsert('test_figures', key),
    upsertDays: compiler.upsert('test_days', key),
    insertOwners: compiler.insert('test_owners', (insert) => insert.onConflict((conflict) => conflict.doNothing())),
    removeOwner: compiler.statement<Schema['test_owners']>()((param) =>
      builder
        .deleteFrom('test_owners')
        .where('repository_id', '=', param('repository_id'))
        .where('owner', '=', param('owner'))
        .where('test_no', '=', param('test_no')),
    ),
    ...rollStatements(compiler),
    ...hitStatements(compiler),
  };
}

function withStoredDays({ dialect }: StatementCompiler) {
  return dialect.builder
    .selectFrom('test_figures')
    .crossJoin('test_days')
    .whereRef('test_days.repository_id', '=', 'test_figures.repository_id')
    .whereRef('test_days.test_no', '=', 'test_figures.test_no')
    .selectAll('test_figures')
    .select('test_days.days');
}

function rollStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findOldest: compiler.statement<{ firstDay: number }>()((param) =>
      builder
        .selectFrom('test_figures')
        .select(['repository_id', 'first_day'])
        .where('first_day', '<', param('firstDay'))
        .orderBy('first_day')
        .limit(1),
    ),
    listOldest: compiler.statement<Repository & { oldDay: number; limit: number }>()((param) =>
      withStoredDays(compiler)
        .where('test_figures.first_day', '=', param('oldDay'))
        .where('test_figures.repository_id', '=', param('repositoryId'))
        .orderBy('test_figures.test_no')
        .limit(param('limit')),
    ),
  };
}

function hitStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findHits: compiler.list<Repository & { prNumber: number }, number>()((param, numbers) =>
      builder
        .selectFrom('test_pull_requests')
        .select(['test_no', 'day'])
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', numbers)
        .where('pr_number', '=', param('prNumber')),
    ),
    upsertHits: compiler.upsert('test_pull_requests', ['repository_id', 'test_no', 'pr_number']),
    removeHits: compiler.list<Repository & { firstDay: number }, number>()((param, numbers) =>
      builder
        .deleteFrom('test_pull_requests')
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', numbers)
        .where('day', '<', param('firstDay')),
    ),
    countHits: compiler.list<Repository, number>()((param, numbers) =>
      builder
        .selectFrom('test_pull_requests')
        .select((eb) => ['test_no', eb.fn.countAll<number>().as('total')])
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', numbers)
        .groupBy('test_no'),
    ),
  };
}
