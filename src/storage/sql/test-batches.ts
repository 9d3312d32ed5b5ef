import type { EarlierBatch, EarlierQuery, StoredBatch, UncountedBatch } from '../test-ingest.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import {
  RUN_COLUMNS,
  type RunRow,
  STORED_RUNS,
  SUCCESS,
  toRun,
  UNCOUNTED_BATCHES,
  UNCOUNTED_RUNS,
} from './stored-runs.ts';
import { toFacts } from './test-rows.ts';

export type BatchStatements = ReturnType<typeof batchStatements>;
type Repository = { repositoryId: string };

export function* findEarlier(
  statements: BatchStatements,
  of: Repository & EarlierQuery,
): Operation<readonly EarlierBatch[]> {
  const { repositoryId, ofTree, ...common } = of;
  const same = { repositoryId, ...common };
  const ofCommit = yield* all(statements.findEarlier, same);
  const others = ofTree === undefined ? [] : yield* all(statements.findOfTree, { ...same, ...ofTree });
  const batches = [...ofCommit, ...others].sort((one, other) => other.seq - one.seq).slice(0, of.limit);
  const seqs = batches.map(({ seq }) => seq);
  const failures = Map.groupBy(yield* allOf(statements.findFailures({ repositoryId }, seqs)), ({ seq }) => seq);
  return batches.map((batch) => ({
    seq: batch.seq,
    facts: toFacts(batch),
    failures: (failures.get(batch.seq) ?? [])
      .map((row) => ({ testNo: row.test_no, at: row.at, path: row.suite_path }))
      .sort(compareFailures),
  }));
}

export function* findPasses(
  statements: BatchStatements,
  of: { readonly repositoryId: string; readonly seq: number; readonly testNos: readonly number[] },
): Operation<ReadonlyMap<number, number>> {
  const rows = yield* allOf(statements.findPasses(of, [...new Set(of.testNos)]));
  return new Map(rows.map(({ test_no, at }) => [test_no, at]));
}

export function* listUncounted(
  statements: BatchStatements,
  repositoryId: string,
): Operation<readonly UncountedBatch[]> {
  const bySeq = Map.groupBy(yield* all(statements.listUncounted, { repositoryId }), ({ seq }) => seq);
  const batches = yield* allOf(statements.findBatches({ repositoryId }, [...bySeq.keys()]));
  const inOrder = (a: RunRow, b: RunRow) => a.test_no - b.test_no || a.ordinal - b.ordinal;
  return batches
    .toSorted((a, b) => a.seq - b.seq)
    .map((batch) => ({
      seq: batch.seq,
      facts: toFacts(batch),
      receivedAt: batch.received_at,
      runs: (bySeq.get(batch.seq) ?? []).sort(inOrder).map(toRun),
    }));
}

export function* measureUncounted(statements: BatchStatements, repositoryId: string) {
  const row = yield* first(statements.measureUncounted, { repositoryId });
  return { batches: row?.batches ?? 0, runs: row?.runs ?? 0, upToSeq: row?.up_to_seq ?? 0 };
}

/** In the order of batches; of each batch by number of the test, then by start, then in their order. */
export function* readRuns(
  statements: BatchStatements,
  of: { readonly repositoryId: string; readonly since: number; readonly testNos: readonly number[] },
): Operation<readonly StoredBatch[]> {
  const { repositoryId, since } = of;
  const rows = yield* allOf(statements.readRuns({ repositoryId, since }, [...new Set(of.testNos)]));
  const bySeq = Map.groupBy(rows, ({ seq }) => seq);
  const batches = yield* allOf(statements.findBatches({ repositoryId }, [...bySeq.keys()]));
  return batches
    .toSorted((a, b) => a.seq - b.seq)
    .map((batch) => ({
      facts: toFacts(batch),
      receivedAt: batch.received_at,
      runs: (bySeq.get(batch.seq) ?? []).sort(byStart).map(toRun),
    }));
}

function byStart(a: RunRow, b: RunRow): number {
  return a.test_no - b.test_no || a.started_at - b.started_at || a.ordinal - b.ordinal;
}

export function* listTestNos(
  statements: BatchStatements,
  of: { readonly repositoryId: string; readonly uploadId: string },
): Operation<readonly number[]> {
  return (yield* all(statements.listTestNos, of)).map(({ test_no }) => test_no);
}

const RUNS_OF_BATCHES = `from test_batches cross join runs
  where runs.part = test_batches.part and runs.seq = test_batches.seq and test_batches.repository_id = :repositoryId
  and` as const;

export function batchStatements({ sql, sqlOfMany }: StatementCompiler) {
  return {
    findBatches: sqlOfMany('select * from test_batches where repository_id = :repositoryId and seq in (:items)'),
    findEarlier: sql(`
      select * from test_batches
      where repository_id = :repositoryId and sha = :sha and job = :job and upload_id <> :exceptUploadId
      and flaw is null and seq < :beforeSeq order by seq desc limit :limit`),
    findOfTree: sql(`
      select * from test_batches
      where repository_id = :repositoryId and tree = :tree and job = :job and sha <> :sha
      and upload_id <> :exceptUploadId and flaw is null and received_at >= :since
      and seq < :beforeSeq order by seq desc limit :limit`),
    findFailures: sqlOfMany(`
      select seq, test_no, suite_path, max(started_at) as at from test_failure_texts
      where repository_id = :repositoryId and seq in (:items) group by seq, test_no, suite_path order by seq`),
    findPasses: sqlOfMany(`
      select runs.test_no, max(runs.started_at) as at ${RUNS_OF_BATCHES} test_batches.seq = :seq
      and runs.test_no in (:items) and runs.conclusion = ${SUCCESS} group by runs.test_no`),
    listTestNos: sql(`
      select distinct runs.test_no ${RUNS_OF_BATCHES} test_batches.upload_id = :uploadId order by runs.test_no`),
    readRuns: sqlOfMany(`select ${RUN_COLUMNS} ${STORED_RUNS} and runs.test_no in (:items)`),
    listUncounted: sql(`select ${RUN_COLUMNS} ${UNCOUNTED_RUNS}`),
    measureUncounted: sql(`
      select count(*) as batches, sum(test_batches.run_count) as runs, max(test_batches.seq) as up_to_seq
      ${UNCOUNTED_BATCHES}`),
    markCounted: sql(`
      update test_sequences set counted_seq = :upToSeq
      where repository_id = :repositoryId and counted_seq < :upToSeq`),
  };
}

type Failure = EarlierBatch['failures'][number];

/** By number, then by path, null last. Databases differ in the order of nulls and of letters. */
export function compareFailures(a: Failure, b: Failure): number {
  if (a.testNo !== b.testNo || a.path === b.path) return a.testNo - b.testNo;
  if (a.path === null || b.path === null) return a.path === null ? 1 : -1;
  return a.path < b.path ? -1 : 1;
}
