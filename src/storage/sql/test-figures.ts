/**
 * Keeps the figures of tests: the days in the memories that count the same runs, so that after a crash both lack the same
 * runs, and the figures to sort by in a table of their own. A test that only passed keeps its place in every order, so that no index is written for it.
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
import type { TestChange, TestMemory } from '../test-ingest.ts';
import { all, allOf, executeAll, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';
import { fromMemory } from './test-rows.ts';

export type FigureStatements = ReturnType<typeof figureStatements>;
type Figures = Schema['test_figures'];
type Marks = Pick<Figures, 'status' | 'is_quarantined'>;
type MarkedTest = Pick<Schema['tests'], 'id' | 'no' | 'status' | 'quarantined_at'>;
type DayKeys = Pick<Figures, 'first_day' | 'failures' | 'failure_ppm' | 'duration_us'>;
type Repository = { repositoryId: string };
export type StoredMemories = ReadonlyMap<number, Pick<Schema['test_memories'], 'seq' | 'days'>>;

/** No day of such a test can leave the window. */
const NO_DAY = 1_000_000;

interface Move {
  readonly testNo: number;
  readonly keys?: DayKeys;
  readonly lastFailureAt?: number | null;
  /** Pull requests that the test had not hit before. */
  readonly hits?: number;
  readonly marks?: Marks;
  readonly isNew?: boolean;
}

export interface CountedMemories {
  /** Without new runs: these keep the days that are stored. */
  readonly rows: readonly Schema['test_memories'][];
  readonly countedRows: readonly Schema['test_memories'][];
  readonly moves: readonly Move[];
}

/** Adds the runs that memories count to the stored days. Most tests keep their figures to sort by. */
// SPEC F62
export function countMemories(
  repositoryId: string,
  memories: readonly TestMemory[],
  stored: StoredMemories,
): CountedMemories {
  const rows: Schema['test_memories'][] = [];
  const countedRows: Schema['test_memories'][] = [];
  const moves: Move[] = [];
  for (const memory of memories) {
    const { testNo, counted } = memory;
    if (counted === undefined) {
      rows.push(fromMemory(repositoryId, memory, '[]'));
      continue;
    }
    const before = JSON.parse(stored.get(testNo)?.days ?? '[]') as DailyCounts;
    const days = addCounts(before, counted.days);
    countedRows.push(fromMemory(repositoryId, memory, JSON.stringify(days)));
    const keys = keysOf(days);
    const { lastFailureAt } = counted;
    if (lastFailureAt !== null || !isSame(keys, keysOf(before))) moves.push({ testNo, keys, lastFailureAt });
  }
  return { rows, countedRows, moves };
}

function keysOf(days: DailyCounts): DayKeys {
  const { runs, failures, durationMs } = sumCounts(days);
  return {
    first_day: days[0] ?? NO_DAY,
    failures,
    failure_ppm: runs === 0 ? 0 : Math.round((failures / runs) * 1_000_000),
    duration_us: durationMs === null ? -1 : roundDuration(durationMs * 1_000),
  };
}

const STEP = Math.log(1.1);

function roundDuration(us: number): number {
  return us < 1 ? 0 : Math.round(Math.exp(Math.round(Math.log(us) / STEP) * STEP));
}

function isSame(one: DayKeys, other: DayKeys): boolean {
  return (
    one.first_day === other.first_day &&
    one.failures === other.failures &&
    one.failure_ppm === other.failure_ppm &&
    one.duration_us === other.duration_us
  );
}

/** The calls that store what a change says about figures. New tests get a row even without a run: lists have them. */
export function* figureCalls(
  statements: FigureStatements,
  change: TestChange,
  of: {
    readonly at: number;
    readonly tests: readonly MarkedTest[];
    readonly known: readonly MarkedTest[];
    readonly moves: readonly Move[];
  },
): Operation<readonly Call[]> {
  const hit = yield* hitCalls(statements, change, of.at);
  const hits = hit.newly.map((testNo): Move => ({ testNo, hits: 1 }));
  const moves = [...markMoves(of.tests, of.known), ...hits, ...of.moves];
  return [...(yield* changeFigures(statements, change.repositoryId, moves)), ...hit.calls];
}

function markMoves(tests: readonly MarkedTest[], known: readonly MarkedTest[]): readonly Move[] {
  const before = new Map(known.map((test) => [test.id, marksOf(test)]));
  return tests.flatMap((test): Move[] => {
    const marks = marksOf(test);
    const old = before.get(test.id);
    const isSameMark = old?.status === marks.status && old.is_quarantined === marks.is_quarantined;
    return isSameMark ? [] : [{ testNo: test.no, marks, isNew: old === undefined }];
  });
}

function marksOf({ status, quarantined_at }: MarkedTest): Marks {
  return { status, is_quarantined: quarantined_at !== null };
}

export function* changeFigures(
  statements: FigureStatements,
  repositoryId: string,
  moves: readonly Move[],
): Operation<readonly Call[]> {
  const added = new Set(moves.filter(({ isNew }) => isNew === true).map(({ testNo }) => testNo));
  const numbers = new Set(moves.map(({ testNo }) => testNo)).difference(added);
  const stored = yield* allOf(statements.findFigures({ repositoryId }, [...numbers]));
  const rows = new Map(stored.map((row) => [row.test_no, row]));
  for (const move of moves) {
    const row = rows.get(move.testNo) ?? emptyFigures(repositoryId, move.testNo);
    rows.set(move.testNo, moved(row, move));
  }
  return statements.upsertFigures([...rows.values()]);
}

function emptyFigures(repository_id: string, test_no: number): Figures {
  const marks = { status: 'HEALTHY', is_quarantined: false } as const;
  return { repository_id, test_no, ...marks, ...keysOf([]), pull_requests: 0, last_failure_at: 0 };
}

/** Field by field: spreading a row of SQLite takes three times as long. */
function moved(row: Figures, { keys = row, lastFailureAt, hits = 0, marks = row }: Move): Figures {
  return {
    repository_id: row.repository_id,
    test_no: row.test_no,
    status: marks.status,
    // SQLite answers numbers for booleans.
    is_quarantined: Boolean(marks.is_quarantined),
    pull_requests: row.pull_requests + hits,
    first_day: keys.first_day,
    failures: keys.failures,
    failure_ppm: keys.failure_ppm,
    duration_us: keys.duration_us,
    last_failure_at: Math.max(row.last_failure_at, lastFailureAt ?? 0),
  };
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
  const rolled = rows.map(({ days, ...row }) => {
    const left = dropBefore(JSON.parse(days) as DailyCounts, firstDay);
    const pull_requests = hits.get(row.test_no) ?? 0;
    return { days: left, row: { ...row, ...keysOf(left), is_quarantined: Boolean(row.is_quarantined), pull_requests } };
  });
  yield* executeAll([
    ...statements.upsertFigures(rolled.map(({ row }) => row)),
    ...rolled.map(({ days, row }) =>
      callOf(statements.storeDays, { repositoryId, testNo: row.test_no, days: JSON.stringify(days) }),
    ),
  ]);
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
  const { sql, sqlOfMany } = compiler;
  return {
    findFigures: sqlOfMany('select * from test_figures where repository_id = :repositoryId and test_no in (:items)'),
    upsertFigures: compiler.upsert('test_figures', ['repository_id', 'test_no']),
    insertOwners: compiler.insert('test_owners', 'on conflict do nothing'),
    removeOwner: sql(`
      delete from test_owners where repository_id = :repository_id and owner = :owner and test_no = :test_no`),
    findOldest: sql(`
      select repository_id, first_day from test_figures where first_day < :firstDay order by first_day limit 1`),
    storeDays: sql('update test_memories set days = :days where repository_id = :repositoryId and test_no = :testNo'),
    listOldest: sql(`
      select test_figures.*, test_memories.days from test_figures cross join test_memories
      where test_memories.repository_id = test_figures.repository_id
      and test_memories.test_no = test_figures.test_no and test_figures.first_day = :oldDay
      and test_figures.repository_id = :repositoryId order by test_figures.test_no limit :limit`),
    findHits: sqlOfMany(`
      select test_no, day from test_pull_requests
      where repository_id = :repositoryId and test_no in (:items) and pr_number = :prNumber`),
    upsertHits: compiler.upsert('test_pull_requests', ['repository_id', 'test_no', 'pr_number']),
    removeHits: sqlOfMany(`
      delete from test_pull_requests where repository_id = :repositoryId and test_no in (:items) and day < :firstDay`),
    countHits: sqlOfMany(`
      select test_no, count(*) as total from test_pull_requests
      where repository_id = :repositoryId and test_no in (:items) group by test_no`),
  };
}
