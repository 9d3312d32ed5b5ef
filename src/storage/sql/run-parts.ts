/**
 * Runs are stored in parts, each of one repository. A commit changes pages of one part only, however many older parts
 * there are. A query seeks once in each part of its time range. Retention removes whole parts.
 *
 * A part's number divided by PARTS_PER_PERIOD is the five days in which the part was begun. PostgreSQL keeps the parts of
 * such a period in one partition and drops it. SQLite deletes the runs of a part in slices.
 */
import type { StoredRun } from '../test-ingest.ts';
import { all, execute, executeAll, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export type PartStatements = ReturnType<typeof partStatements>;

/** Larger parts make a commit change more pages; smaller ones make more parts to seek in. */
const MAX_BATCHES = 60;
const MAX_RUNS = 300_000;
/** Old runs stay on disk at most this much longer than their retention. */
const PERIOD_MS = 5 * 24 * 60 * 60 * 1000;
const PARTS_PER_PERIOD = 100_000;
const PERIOD = `run_parts.part / ${PARTS_PER_PERIOD}` as const;
const RETIRED = 'update run_parts set repository_id = null, retired_from = repository_id where';
/** The largest integer of PostgreSQL. */
const LAST_TEST_NO = 2 ** 31 - 1;
/** Readers of runs wait while a partition waits for its lock. */
const DROP_TIMEOUT = '200ms';

interface Batch {
  readonly repositoryId: string;
  readonly at: number;
  readonly seq: number;
  readonly runs: readonly StoredRun[];
}

/** The part that takes the runs of a batch, counted in: a new one if the latest is full, or of an earlier period. */
export function* takePart(
  statements: PartStatements,
  { repositoryId, at, seq, runs }: Batch,
): Operation<Schema['run_parts']> {
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

function hasRoom({ part, batch_count, run_count }: Schema['run_parts'], at: number): boolean {
  return batch_count < MAX_BATCHES && run_count < MAX_RUNS && periodOfPart(part) >= periodOf(at);
}

export function periodOfPart(part: number): number {
  return Math.floor(part / PARTS_PER_PERIOD);
}

function periodOf(at: number): number {
  return Math.floor(at / PERIOD_MS);
}

/** The numbers rise even if the clock goes back. */
function* beginPart(statements: PartStatements, repositoryId: string, at: number): Operation<Schema['run_parts']> {
  yield* executeAll(statements.lockPartitions());
  const last = (yield* first(statements.findLastPart, {}))?.part ?? 0;
  const part = Math.max(last + 1, periodOf(at) * PARTS_PER_PERIOD);
  yield* executeAll(statements.ensurePartition(periodOfPart(part)));
  const starts = { first_started_at: Number.MAX_SAFE_INTEGER, last_started_at: Number.MIN_SAFE_INTEGER };
  return {
    part,
    repository_id: repositoryId,
    retired_from: null,
    last_seq: 0,
    ...starts,
    batch_count: 0,
    run_count: 0,
  };
}

/** Removes a slice of about `limit` runs of retired parts. Returns the number of runs removed. */
export function* removeRetired(statements: PartStatements, limit: number): Operation<number> {
  const retired = yield* first(statements.findRetired, {});
  if (retired === undefined) return 0;
  const { part } = retired;
  const last = yield* first(statements.findLastOfSlice, { part, limit });
  const removed = yield* execute(statements.removeRuns, { part, upToNo: last?.test_no ?? LAST_TEST_NO });
  if (last === undefined) yield* execute(statements.removePart, { part });
  return removed;
}

/** Drops partitions in which every part is retired. */
export function* dropPartitions(statements: PartStatements): Operation<void> {
  if (!statements.hasPartitions) return;
  yield* executeAll(statements.lockPartitions());
  for (const { period } of yield* all(statements.findRetiredPeriods, {})) {
    yield* executeAll(statements.dropPartition(period));
  }
}

export function partStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    ...partitionStatements(compiler),
    ...retiredStatements(compiler),
    findLatestPart: sql('select * from run_parts where repository_id = :repositoryId order by part desc limit 1'),
    findLastPart: sql('select max(part) as part from run_parts'),
    upsertParts: compiler.upsert('run_parts', ['part'], ['repository_id', 'retired_from']),
    insertRuns: compiler.insertNumbers('runs', {
      ...({ part: 'integer', test_no: 'integer', started_at: 'bigint', seq: 'integer' } as const),
      ...({ ordinal: 'integer', conclusion: 'smallint', duration_us: 'bigint', is_quarantined: 'boolean' } as const),
    }),
    retireAll: sql(`${RETIRED} repository_id = :id`),
    /** Parts with only runs from before or of forgotten batches. Runs that are not counted yet keep their part. */
    retireOld: sql(`${RETIRED} repository_id = :repositoryId and (
      last_seq <= (select forgotten_seq from test_sequences where repository_id = :repositoryId)
      or last_started_at < :before
      and last_seq <= (select counted_seq from test_sequences where repository_id = :repositoryId))`),
  };
}

function retiredStatements({ sql, dialect }: StatementCompiler) {
  return {
    /**
     * A partition is about to be dropped while the same repository has runs of it or of the next one. Later it is kept by
     * another repository with a longer retention, and its retired runs are deleted.
     */
    findRetired: dialect.hasPartitions
      ? sql(`
        select run_parts.part from run_parts where run_parts.repository_id is null and not exists (
          select later.part from run_parts as later
          where later.repository_id = run_parts.retired_from
          and later.part < (${PERIOD} + 2) * ${PARTS_PER_PERIOD})
        limit 1`)
      : sql('select run_parts.part from run_parts where run_parts.repository_id is null limit 1'),
    findLastOfSlice: sql('select test_no from runs where part = :part order by test_no limit 1 offset :limit'),
    removeRuns: sql('delete from runs where part = :part and test_no <= :upToNo'),
    removePart: sql('delete from run_parts where part = :part'),
    findRetiredPeriods: sql(`
      select distinct ${PERIOD} as period from run_parts where repository_id is null and not exists (
        select others.part from run_parts as others
        where others.part >= ${PERIOD} * ${PARTS_PER_PERIOD}
        and others.part < (${PERIOD} + 1) * ${PARTS_PER_PERIOD}
        and others.repository_id is not null)`),
  };
}

/** The lock keeps a part from being begun in a partition that is about to be dropped. */
function partitionStatements(compiler: StatementCompiler) {
  const { hasPartitions } = compiler.dialect;
  const calls = (text: string): readonly Call[] => (hasPartitions ? [callOf(compiler.raw(text), {})] : []);
  // The number is arbitrary, like that of migrations.
  const lock = calls('select pg_advisory_xact_lock(7305804394)');
  return {
    hasPartitions,
    lockPartitions: () => lock,
    ensurePartition: (period: number) => calls(ensurePartition(period)),
    dropPartition: (period: number) => calls(dropPartition(period)),
  };
}

/** To attach a table does not wait for readers, such as a backup. To create it as a partition would. */
function ensurePartition(period: number): string {
  const [from, to] = [period * PARTS_PER_PERIOD, (period + 1) * PARTS_PER_PERIOD];
  return `do $$ begin
    if to_regclass('runs_${period}') is null then
      create table runs_${period} (like runs);
      alter table runs attach partition runs_${period} for values from (${from}) to (${to});
    end if;
  end $$`;
}

/** A long read, such as a backup, makes it time out; the next retention run tries again. */
function dropPartition(period: number): string {
  const [from, to] = [period * PARTS_PER_PERIOD, (period + 1) * PARTS_PER_PERIOD];
  return `do $$ begin
    set local lock_timeout = '${DROP_TIMEOUT}';
    drop table if exists runs_${period};
    delete from run_parts where part >= ${from} and part < ${to};
  exception when lock_not_available then null;
  end $$`;
}
