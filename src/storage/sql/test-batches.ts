import type { EarlierBatch, EarlierQuery, StoredBatch, UncountedBatch } from '../test-ingest.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import {
  RUN_COLUMNS,
  type RunRow,
  type RunsSince,
  SUCCESS,
  storedRuns,
  toRun,
  uncountedBatches,
  uncountedRuns,
} from './stored-runs.ts';
import { toFacts } from './test-rows.ts';

export type BatchStatements = ReturnType<typeof batchStatements>;
type Repository = { repositoryId: string };

export function* findEarlier(
  statements: BatchStatements,
  of: Repository & EarlierQuery,
): Operation<readonly EarlierBatch[]> {
  const { repositoryId } = of;
  const batches = yield* all(statements.findEarlier, of);
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
  return { batches: row?.batches ?? 0, runs: row?.runs ?? 0, upToSeq: row?.upToSeq ?? 0 };
}

/** In the order of batches; of each batch by number of the test, then by start, then in their order. */
export function* readRuns(
  statements: BatchStatements,
  of: RunsSince & { readonly testNos: readonly number[] },
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

export function batchStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findBatches: compiler.list<Repository, number>()((param, seqs) =>
      builder
        .selectFrom('test_batches')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('seq', 'in', seqs),
    ),
    findEarlier: compiler.statement<Repository & EarlierQuery>()((param) =>
      builder
        .selectFrom('test_batches')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('sha', '=', param('sha'))
        .where('job', '=', param('job'))
        .where('upload_id', '<>', param('exceptUploadId'))
        .where('flaw', 'is', null)
        .where('seq', '<', param('beforeSeq'))
        .orderBy('seq', 'desc')
        .limit(param('limit')),
    ),
    findFailures: compiler.list<Repository, number>()((param, seqs) =>
      builder
        .selectFrom('test_failure_texts')
        .select((eb) => ['seq', 'test_no', 'suite_path', eb.fn.max('started_at').as('at')])
        .where('repository_id', '=', param('repositoryId'))
        .where('seq', 'in', seqs)
        .groupBy(['seq', 'test_no', 'suite_path'])
        .orderBy('seq'),
    ),
    ...batchRunStatements(compiler),
  };
}

function batchRunStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const runsOfBatches = () =>
    builder
      .selectFrom('test_batches')
      .crossJoin('runs')
      .whereRef('runs.part', '=', 'test_batches.part')
      .whereRef('runs.seq', '=', 'test_batches.seq');
  return {
    findPasses: compiler.list<Repository & { seq: number }, number>()((param, testNos) =>
      runsOfBatches()
        .where('test_batches.repository_id', '=', param('repositoryId'))
        .where('test_batches.seq', '=', param('seq'))
        .where('runs.test_no', 'in', testNos)
        .where('runs.conclusion', '=', SUCCESS)
        .groupBy('runs.test_no')
        .select((eb) => ['runs.test_no', eb.fn.max('runs.started_at').as('at')]),
    ),
    listTestNos: compiler.statement<Repository & { uploadId: string }>()((param) =>
      runsOfBatches()
        .where('test_batches.repository_id', '=', param('repositoryId'))
        .where('test_batches.upload_id', '=', param('uploadId'))
        .select('runs.test_no')
        .distinct()
        .orderBy('runs.test_no'),
    ),
    readRuns: compiler.list<RunsSince, number>()((param, testNos) =>
      storedRuns(compiler, param).where('runs.test_no', 'in', testNos).select(RUN_COLUMNS),
    ),
    listUncounted: compiler.statement<Repository>()((param) => uncountedRuns(compiler, param).select(RUN_COLUMNS)),
    measureUncounted: compiler.statement<Repository>()((param) =>
      uncountedBatches(compiler, param).select(({ fn }) => [
        fn.countAll<number>().as('batches'),
        fn.sum<number | null>('test_batches.run_count').as('runs'),
        fn.max<number | null>('test_batches.seq').as('upToSeq'),
      ]),
    ),
    markCounted: compiler.statement<Repository & { upToSeq: number }>()((param) =>
      builder
        .updateTable('test_sequences')
        .set({ counted_seq: param('upToSeq') })
        .where('repository_id', '=', param('repositoryId'))
        .where('counted_seq', '<', param('upToSeq')),
    ),
  };
}

type Failure = EarlierBatch['failures'][number];

/** By number, then by path, null last. Databases differ in the order of nulls and of letters. */
export function compareFailures(a: Failure, b: Failure): number {
  if (a.testNo !== b.testNo || a.path === b.path) return a.testNo - b.testNo;
  if (a.path === null || b.path === null) return a.path === null ? 1 : -1;
  return a.path < b.path ? -1 : 1;
}
