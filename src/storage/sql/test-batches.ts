import { compareFailures } from '../test-failures.ts';
import type { EarlierBatch, RunBlock, StoredBatch, StoredRun } from '../test-ingest.ts';
import { all, allOf, type Operation } from './operation.ts';
import type { BlockCache } from './runs/block-cache.ts';
import { bucketOf } from './runs/buckets.ts';
import { hasConclusion, runAt } from './runs/make-block.ts';
import { packedChunk, readAll, readTest } from './runs/read-runs.ts';
import { emptyColumns, type RunColumns, SUCCESS } from './runs/run-columns.ts';
import { findBlocks, findStoredRuns, type RunStatements, readStoredRuns } from './runs/stored-runs.ts';
import type { StatementCompiler } from './statement.ts';
import { toFacts } from './test-rows.ts';

export type BatchStatements = ReturnType<typeof batchStatements> & RunStatements;
type Repository = { repositoryId: string };

export function* findEarlier(
  statements: BatchStatements,
  of: { readonly repositoryId: string; readonly sha: string; readonly job: string; readonly exceptUploadId: string },
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

/** Of the block while there is one, afterwards of the chunks that it went into. */
export function* findPasses(
  statements: BatchStatements,
  of: { readonly repositoryId: string; readonly seq: number; readonly testNos: readonly number[] },
): Operation<ReadonlyMap<number, number>> {
  const { repositoryId, seq } = of;
  const testNos = [...new Set(of.testNos)].sort((a, b) => a - b);
  const batch = (yield* allOf(statements.findBatches({ repositoryId }, [seq])))[0];
  if (batch === undefined || testNos.length === 0) return new Map();
  const columns = emptyColumns();
  const block = (yield* allOf(statements.readBlocks({ repositoryId }, [seq])))[0];
  if (block !== undefined) {
    const packed = { bytes: block.data, seq, branchNo: 0 };
    for (const testNo of testNos) readTest(packed, testNo, columns);
  } else {
    const periods = { fromPeriod: batch.first_period, toPeriod: batch.last_period };
    const buckets = [...new Set(testNos.map(bucketOf))];
    const chunks = yield* allOf(statements.findChunks({ repositoryId, ...periods }, buckets));
    const byBucket = Map.groupBy(chunks, ({ bucket }) => bucket);
    for (const testNo of testNos) {
      for (const { data } of byBucket.get(bucketOf(testNo)) ?? []) readTest(packedChunk(data), testNo, columns);
    }
  }
  return latestPasses(columns, seq);
}

function latestPasses(columns: RunColumns, seq: number): ReadonlyMap<number, number> {
  const passes = new Map<number, number>();
  columns.testNo.forEach((testNo, index) => {
    if (columns.seq[index] !== seq || !hasConclusion(columns, index, SUCCESS)) return;
    passes.set(testNo, Math.max(passes.get(testNo) ?? Number.NEGATIVE_INFINITY, columns.startedAt[index] as number));
  });
  return passes;
}

export function* listBlocks(
  statements: BatchStatements,
  cache: BlockCache,
  repositoryId: string,
): Operation<readonly RunBlock[]> {
  const blocks = yield* findBlocks(statements, cache, repositoryId);
  const seqs = blocks.map(({ seq }) => seq);
  const batches = new Map((yield* allOf(statements.findBatches({ repositoryId }, seqs))).map((row) => [row.seq, row]));
  return blocks.flatMap((block) => {
    const batch = batches.get(block.seq);
    if (batch === undefined) return [];
    const columns = emptyColumns();
    readAll(block, columns);
    const runs = columns.testNo.map((_, index) => runAt(columns, index));
    return [{ seq: block.seq, facts: toFacts(batch), receivedAt: batch.received_at, runs }];
  });
}

export function* measureBlocks(statements: BatchStatements, repositoryId: string) {
  const stubs = yield* all(statements.listBlocks, { repositoryId });
  return {
    blocks: stubs.length,
    runs: stubs.reduce((sum, { run_count }) => sum + run_count, 0),
    upToSeq: stubs.at(-1)?.seq ?? 0,
  };
}

/** In the order of batches; of each batch by number of the test, then by start, then in their order. */
export function* readRuns(
  statements: BatchStatements,
  cache: BlockCache,
  of: { readonly repositoryId: string; readonly testNos: readonly number[]; readonly since: number },
): Operation<readonly StoredBatch[]> {
  const { repositoryId, since } = of;
  const testNos = [...new Set(of.testNos)].sort((a, b) => a - b);
  const stored = yield* findStoredRuns(statements, cache, { repositoryId, testNos, since });
  const bySeq = new Map<number, StoredRun[]>();
  for (const testNo of testNos) {
    const columns = readStoredRuns(stored, testNo, since);
    columns.seq.forEach((seq, index) => {
      const runs = bySeq.get(seq);
      if (runs === undefined) bySeq.set(seq, [runAt(columns, index)]);
      else runs.push(runAt(columns, index));
    });
  }
  const batches = yield* allOf(statements.findBatches({ repositoryId }, [...bySeq.keys()]));
  return batches
    .toSorted((a, b) => a.seq - b.seq)
    .map((batch) => ({
      facts: toFacts(batch),
      receivedAt: batch.received_at,
      runs: (bySeq.get(batch.seq) ?? []).sort(compareRuns),
    }));
}

/** Of blocks while there are any, afterwards of the chunks of those days. */
export function* listTestNos(
  statements: BatchStatements,
  of: { readonly repositoryId: string; readonly uploadId: string },
): Operation<readonly number[]> {
  const { repositoryId } = of;
  const found = new Set<number>();
  for (const { seq, first_period: fromPeriod, last_period: toPeriod } of yield* all(statements.findOfUpload, of)) {
    const columns = emptyColumns();
    const block = (yield* allOf(statements.readBlocks({ repositoryId }, [seq])))[0];
    if (block !== undefined) readAll({ bytes: block.data, seq, branchNo: 0 }, columns);
    else {
      const chunks = yield* all(statements.findPeriods, { repositoryId, fromPeriod, toPeriod });
      for (const { data } of chunks) readAll(packedChunk(data), columns);
    }
    columns.testNo.forEach((testNo, index) => {
      if (columns.seq[index] === seq) found.add(testNo);
    });
  }
  return [...found].sort((a, b) => a - b);
}

function compareRuns(a: StoredRun, b: StoredRun): number {
  return a.testNo - b.testNo || a.startedAt - b.startedAt;
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
    findEarlier: compiler.statement<Repository & { sha: string; job: string; exceptUploadId: string }>()((param) =>
      builder
        .selectFrom('test_batches')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('sha', '=', param('sha'))
        .where('job', '=', param('job'))
        .where('upload_id', '<>', param('exceptUploadId'))
        .where('flaw', 'is', null)
        .orderBy('seq'),
    ),
    findOfUpload: compiler.statement<Repository & { uploadId: string }>()((param) =>
      builder
        .selectFrom('test_batches')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('upload_id', '=', param('uploadId'))
        .orderBy('seq'),
    ),
    findPeriods: compiler.statement<Repository & { fromPeriod: number; toPeriod: number }>()((param) =>
      builder
        .selectFrom('run_chunks')
        .select('data')
        .where('repository_id', '=', param('repositoryId'))
        .where('period', '>=', param('fromPeriod'))
        .where('period', '<=', param('toPeriod')),
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
    dropBlocks: compiler.statement<Repository & { upToSeq: number }>()((param) =>
      builder
        .deleteFrom('run_blocks')
        .where('repository_id', '=', param('repositoryId'))
        .where('seq', '<=', param('upToSeq')),
    ),
  };
}
