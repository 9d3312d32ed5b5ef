import { all, allOf, first, type Operation } from '../operation.ts';
import type { StatementCompiler } from '../statement.ts';
import type { BlockCache } from './block-cache.ts';
import { bucketOf, periodOf } from './buckets.ts';
import { type PackedRun, type PackedRuns, packedChunk, pushRun, visitTest } from './read-runs.ts';
import { emptyColumns, type RunColumns } from './run-columns.ts';

export type RunStatements = ReturnType<typeof runStatements>;

export interface PackedBlock extends PackedRuns {
  readonly runCount: number;
}

/** Everything that is stored of some tests within some time, still packed. */
export interface StoredRuns {
  readonly chunks: ReadonlyMap<number, readonly PackedRuns[]>;
  readonly blocks: readonly PackedBlock[];
  /** By bucket: what the chunks hold already. */
  readonly mergedSeqs: ReadonlyMap<number, number>;
  readonly forgottenSeq: number;
}

interface Wanted {
  readonly repositoryId: string;
  readonly testNos: Iterable<number>;
  readonly since: number;
  readonly until?: number;
}

const LAST_PERIOD = 2 ** 40;

export function* findStoredRuns(
  statements: RunStatements,
  cache: BlockCache,
  { repositoryId, testNos, since, until }: Wanted,
): Operation<StoredRuns> {
  const buckets = [...new Set([...testNos].map(bucketOf))];
  const periods = { fromPeriod: periodOf(since), toPeriod: until === undefined ? LAST_PERIOD : periodOf(until) };
  const sequence = yield* first(statements.findForgotten, { repositoryId });
  const merged = yield* allOf(statements.findMerged({ repositoryId }, buckets));
  const rows = yield* allOf(statements.findChunks({ repositoryId, ...periods }, buckets));
  const chunks = new Map<number, PackedRuns[]>();
  // Sorted here: a database would carry the bytes along.
  for (const { bucket, data } of rows.toSorted((a, b) => a.period - b.period || a.no - b.no)) {
    const known = chunks.get(bucket);
    if (known === undefined) chunks.set(bucket, [packedChunk(data)]);
    else known.push(packedChunk(data));
  }
  return {
    chunks,
    blocks: buckets.length === 0 ? [] : yield* findBlocks(statements, cache, repositoryId),
    mergedSeqs: new Map(merged.map((row) => [row.bucket, row.merged_seq])),
    forgottenSeq: sequence?.forgotten_seq ?? 0,
  };
}

/** All of the repository, in order. */
export function* findBlocks(
  statements: RunStatements,
  cache: BlockCache,
  repositoryId: string,
): Operation<readonly PackedBlock[]> {
  const stubs = yield* all(statements.listBlocks, { repositoryId });
  const missing = stubs.filter(({ seq, stamp }) => cache.get({ repositoryId, seq, stamp }) === undefined);
  const read = new Map<number, Uint8Array>();
  const rows = yield* allOf(
    statements.readBlocks(
      { repositoryId },
      missing.map(({ seq }) => seq),
    ),
  );
  for (const { seq, stamp, data } of rows) {
    read.set(seq, data);
    cache.set({ repositoryId, seq, stamp }, data);
  }
  return stubs.flatMap(({ seq, stamp, branch_no, run_count }) => {
    const bytes = read.get(seq) ?? cache.get({ repositoryId, seq, stamp });
    return bytes === undefined ? [] : [{ bytes, seq, branchNo: branch_no, runCount: run_count }];
  });
}

/** The runs of one test that started at `since` or later, those stored first at the front within a period. */
export function readStoredRuns(stored: StoredRuns, testNo: number, since: number): RunColumns {
  const columns = emptyColumns();
  visitStoredRuns(stored, testNo, since, (run) => pushRun(run, columns));
  return columns;
}

/** The same without keeping them. */
export function visitStoredRuns(
  stored: StoredRuns,
  testNo: number,
  since: number,
  visit: (run: PackedRun) => void,
): void {
  const { forgottenSeq } = stored;
  const visitKept = (run: PackedRun) => {
    if (run.startedAt >= since && run.seq > forgottenSeq) visit(run);
  };
  const bucket = bucketOf(testNo);
  for (const chunk of stored.chunks.get(bucket) ?? []) visitTest(chunk, testNo, visitKept);
  const mergedSeq = stored.mergedSeqs.get(bucket) ?? 0;
  for (const block of stored.blocks) if (block.seq > mergedSeq) visitTest(block, testNo, visitKept);
}

export function runStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Repository = { repositoryId: string };
  return {
    findForgotten: compiler.statement<Repository>()((param) =>
      builder.selectFrom('test_sequences').select('forgotten_seq').where('repository_id', '=', param('repositoryId')),
    ),
    findMerged: compiler.list<Repository, number>()((param, buckets) =>
      builder
        .selectFrom('run_buckets')
        .select(['bucket', 'merged_seq'])
        .where('repository_id', '=', param('repositoryId'))
        .where('bucket', 'in', buckets),
    ),
    findChunks: compiler.list<Repository & { fromPeriod: number; toPeriod: number }, number>()((param, buckets) =>
      builder
        .selectFrom('run_chunks')
        .select(['bucket', 'period', 'no', 'data'])
        .where('repository_id', '=', param('repositoryId'))
        .where('bucket', 'in', buckets)
        .where('period', '>=', param('fromPeriod'))
        .where('period', '<=', param('toPeriod')),
    ),
    listBlocks: compiler.statement<Repository>()((param) =>
      builder
        .selectFrom('run_blocks')
        .select(['seq', 'stamp', 'branch_no', 'run_count'])
        .where('repository_id', '=', param('repositoryId'))
        .orderBy('seq'),
    ),
    readBlocks: compiler.list<Repository, number>()((param, seqs) =>
      builder
        .selectFrom('run_blocks')
        .select(['seq', 'stamp', 'data'])
        .where('repository_id', '=', param('repositoryId'))
        .where('seq', 'in', seqs),
    ),
  };
}
