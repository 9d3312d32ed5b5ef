/**
 * Runs are stored in parts, each of one repository. A commit changes pages of one part only, whatever there is of older
 * ones; a question seeks once in each part of its time; and what is old goes part by part. The number of a part begins
 * with the period it was begun in, and PostgreSQL keeps the parts of a period in a partition of their own, which is dropped
 * in one piece. SQLite removes the runs of a part in slices.
 */
import { sql } from 'kysely';
import type { StoredRun } from '../test-ingest.ts';
import { all, execute, executeAll, first, type Operation } from './operation.ts';
import type { RunPartsTable } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export type PartStatements = ReturnType<typeof partStatements>;

/** More of them make a commit change more pages; fewer make more parts to seek in. */
const MAX_BATCHES = 60;
const MAX_RUNS = 300_000;
/** What is old stays at most so much longer than it should. */
const PERIOD_MS = 5 * 24 * 60 * 60 * 1000;
const PARTS_PER_PERIOD = 100_000;
/** While a partition is dropped, whoever reads runs waits. */
const DROP_TIMEOUT = '200ms';

interface Batch {
  readonly repositoryId: string;
  readonly at: number;
  readonly seq: number;
  readonly runs: readonly StoredRun[];
}

/** The part that the runs of a batch go into, as it is with them: a new one where the latest is full, or of an earlier period. */
export function* takePart(
  statements: PartStatements,
  { repositoryId, at, seq, runs }: Batch,
): Operation<RunPartsTable> {
  const latest = yield* first(statements.findLatestPart, { repositoryId });
  const part = latest !== undefined && hasRoom(latest, at) ? latest : yield* beginPart(statements, repositoryId, at);
  let { first_started_at, last_started_at } = part;
  for (const { startedAt } of runs) {
    if (startedAt < first_started_at) first_started_at = startedAt;
    if (startedAt > last_started_at) last_started_at = startedAt;
  }
  const counts = { batch_count: part.batch_count + 1, run_count: part.run_count + runs.length };
  return { ...part, ...counts, first_started_at, last_started_at, last_seq: seq };
}

function hasRoom({ part, batch_count, run_count }: RunPartsTable, at: number): boolean {
  return batch_count < MAX_BATCHES && run_count < MAX_RUNS && Math.floor(part / PARTS_PER_PERIOD) >= periodOf(at);
}

function periodOf(at: number): number {
  return Math.floor(at / PERIOD_MS);
}

/** Numbers never go back, as a clock may. */
function* beginPart(statements: PartStatements, repositoryId: string, at: number): Operation<RunPartsTable> {
  yield* executeAll(statements.lockPartitions());
  const last = (yield* first(statements.findLastPart, {}))?.part ?? 0;
  const part = Math.max(last + 1, periodOf(at) * PARTS_PER_PERIOD);
  yield* executeAll(statements.ensurePartition(Math.floor(part / PARTS_PER_PERIOD)));
  const starts = { first_started_at: Number.MAX_SAFE_INTEGER, last_started_at: Number.MIN_SAFE_INTEGER };
  return { part, repository_id: repositoryId, last_seq: 0, ...starts, batch_count: 0, run_count: 0 };
}

/** Removes about so many of the runs that nothing reads any more; answers how many. */
export function* removeRetired(statements: PartStatements, limit: number): Operation<number> {
  if (statements.hasPartitions) return yield* dropPartitions(statements);
  const retired = yield* first(statements.findRetired, {});
  if (retired === undefined) return 0;
  const { part } = retired;
  const last = yield* first(statements.findLastOfSlice, { part, limit });
  const removed = yield* execute(statements.removeRuns, { part, upToNo: last?.test_no ?? Number.MAX_SAFE_INTEGER });
  if (last === undefined) yield* execute(statements.removePart, { part });
  return removed;
}

/** Nothing follows from what is left of them: they are not counted. */
function* dropPartitions(statements: PartStatements): Operation<number> {
  const periods = yield* all(statements.findRetiredPeriods, {});
  if (periods.length === 0) return 0;
  yield* executeAll(statements.lockPartitions());
  for (const { period } of yield* all(statements.findRetiredPeriods, {})) {
    yield* executeAll(statements.dropPartition(period));
  }
  return 0;
}

export function partStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Repository = { repositoryId: string };
  const replaced = ['last_seq', 'first_started_at', 'last_started_at', 'batch_count', 'run_count'] as const;
  return {
    ...partitionStatements(compiler),
    ...retiredStatements(compiler),
    findLatestPart: compiler.statement<Repository>()((param) =>
      builder
        .selectFrom('run_parts')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .orderBy('part', 'desc')
        .limit(1),
    ),
    findLastPart: compiler.statement<object>()(() =>
      builder.selectFrom('run_parts').select((eb) => eb.fn.max<number | null>('part').as('part')),
    ),
    upsertParts: compiler.bulk<RunPartsTable>(['part', 'repository_id', ...replaced], (rows) =>
      builder
        .insertInto('run_parts')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .column('part')
            .doUpdateSet((eb) => Object.fromEntries(replaced.map((column) => [column, eb.ref(`excluded.${column}`)]))),
        ),
    ),
    insertRuns: compiler.bulkOfNumbers('runs', {
      ...({ part: 'integer', test_no: 'integer', started_at: 'bigint', seq: 'integer' } as const),
      ...({ ordinal: 'integer', conclusion: 'smallint', duration_us: 'bigint', is_quarantined: 'boolean' } as const),
    }),
    retireAll: compiler.statement<{ id: string }>()((param) =>
      builder.updateTable('run_parts').set({ repository_id: null }).where('repository_id', '=', param('id')),
    ),
    /** Those whose every run is from before, or of a forgotten batch; not those whose runs are to be counted yet. */
    retireOld: compiler.statement<Repository & { before: number }>()((param) =>
      builder
        .updateTable('run_parts')
        .set({ repository_id: null })
        .where('repository_id', '=', param('repositoryId'))
        .where(({ or, eb, selectFrom }) => {
          const numbers = selectFrom('test_sequences').where('repository_id', '=', param('repositoryId'));
          return or([
            eb('last_seq', '<=', numbers.select('forgotten_seq')),
            eb('last_started_at', '<', param('before')).and('last_seq', '<=', numbers.select('counted_seq')),
          ]);
        }),
    ),
  };
}

function retiredStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Slice = { part: number; limit: number };
  const size = sql.lit(PARTS_PER_PERIOD);
  const period = sql<number>`(run_parts.part / ${size})`;
  return {
    findRetired: compiler.statement<object>()(() =>
      builder.selectFrom('run_parts').select('part').where('repository_id', 'is', null).limit(1),
    ),
    findLastOfSlice: compiler.statement<Slice>()((param) =>
      builder
        .selectFrom('runs')
        .select('test_no')
        .where('part', '=', param('part'))
        .orderBy('test_no')
        .limit(1)
        .offset(param('limit')),
    ),
    removeRuns: compiler.statement<{ part: number; upToNo: number }>()((param) =>
      builder.deleteFrom('runs').where('part', '=', param('part')).where('test_no', '<=', param('upToNo')),
    ),
    removePart: compiler.statement<{ part: number }>()((param) =>
      builder.deleteFrom('run_parts').where('part', '=', param('part')),
    ),
    findRetiredPeriods: compiler.statement<object>()(() =>
      builder
        .selectFrom('run_parts')
        .select(period.as('period'))
        .distinct()
        .where('repository_id', 'is', null)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('run_parts as others')
                .select('others.part')
                .where('others.part', '>=', sql<number>`${period} * ${size}`)
                .where('others.part', '<', sql<number>`(${period} + 1) * ${size}`)
                .where('others.repository_id', 'is not', null),
            ),
          ),
        ),
    ),
  };
}

/** Whoever adds or drops a partition is alone, so that no part is begun in one that is about to go. */
function partitionStatements(compiler: StatementCompiler) {
  const { hasPartitions } = compiler.dialect;
  const calls = (text: string): readonly Call[] => (hasPartitions ? [callOf(compiler.raw(text), {})] : []);
  // The number is arbitrary, as that of migrations.
  const lock = calls('select pg_advisory_xact_lock(7305804394)');
  return {
    hasPartitions,
    lockPartitions: () => lock,
    ensurePartition: (period: number) => calls(ensurePartition(period)),
    dropPartition: (period: number) => calls(dropPartition(period)),
  };
}

/** Made apart and attached: to create it in its place would wait for whoever reads runs, such as a backup. */
function ensurePartition(period: number): string {
  const [from, to] = [period * PARTS_PER_PERIOD, (period + 1) * PARTS_PER_PERIOD];
  return `do $$ begin
    if to_regclass('runs_${period}') is null then
      create table runs_${period} (like runs);
      alter table runs attach partition runs_${period} for values from (${from}) to (${to});
    end if;
  end $$`;
}

/** Where somebody reads for long, such as a backup, it is dropped the next time. */
function dropPartition(period: number): string {
  const [from, to] = [period * PARTS_PER_PERIOD, (period + 1) * PARTS_PER_PERIOD];
  return `do $$ begin
    set local lock_timeout = '${DROP_TIMEOUT}';
    drop table if exists runs_${period};
    delete from run_parts where part >= ${from} and part < ${to};
  exception when lock_not_available then null;
  end $$`;
}
