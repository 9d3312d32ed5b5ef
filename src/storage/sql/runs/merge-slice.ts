import type { MergeSlice } from '../../test-ingest.ts';
import { all, allOf, executeAll, type Operation } from '../operation.ts';
import type { RunChunksTable } from '../schema.ts';
import { type Call, callOf, type StatementCompiler } from '../statement.ts';
import { areOutdated, lockSequence } from '../test-commit.ts';
import type { CommitStatements } from '../test-commit-statements.ts';
import { fromMemory } from '../test-rows.ts';
import type { BlockCache } from './block-cache.ts';
import { bucketOf, periodOf } from './buckets.ts';
import { FORMAT_PLACED, packRuns } from './pack-runs.ts';
import { packedChunk, readAll, readRange } from './read-runs.ts';
import { copyRun, emptyColumns, type RunColumns } from './run-columns.ts';
import { findBlocks, type RunStatements } from './stored-runs.ts';

type Statements = CommitStatements & RunStatements & ReturnType<typeof mergeStatements>;

/** While the last chunk of a period is smaller, it is written again with what is new. */
const FULL_CHUNK_BYTES = 4 * 1024;

export function* mergeSlice(statements: Statements, cache: BlockCache, slice: MergeSlice): Operation<boolean> {
  const { repositoryId, memories } = slice;
  if ((yield* lockSequence(statements, repositoryId, slice.expectedSeq)) === undefined) return false;
  if (yield* areOutdated(statements, repositoryId, memories)) return false;
  const buckets = { repositoryId, fromBucket: bucketOf(slice.fromNo), toBucket: bucketOf(slice.toNo) };
  const merged = new Map((yield* all(statements.listMerged, buckets)).map((row) => [row.bucket, row.merged_seq]));
  const blocks = yield* findBlocks(statements, cache, repositoryId);
  const runs = emptyColumns();
  for (const block of blocks) if (block.seq <= slice.upToSeq) readRange(block, slice.fromNo, slice.toNo, runs);
  const added = byChunk(runs, merged);
  const periods = [...new Set(added.map(({ period }) => period))];
  const last = yield* allOf(statements.listLastChunks(buckets, periods));
  yield* executeAll([
    ...statements.upsertChunks(added.map((group) => chunkRow(repositoryId, group, last))),
    ...markMerged(statements, slice, added),
    ...statements.upsertMemories(memories.map((memory) => fromMemory(repositoryId, memory))),
  ]);
  return true;
}

interface ChunkRuns {
  readonly bucket: number;
  readonly period: number;
  readonly runs: RunColumns;
}

/** Without what a merge that did not get to its end has stored already. */
function byChunk(runs: RunColumns, merged: ReadonlyMap<number, number>): readonly ChunkRuns[] {
  const groups = new Map<string, ChunkRuns>();
  for (let index = 0; index < runs.seq.length; index++) {
    const bucket = bucketOf(runs.testNo[index] as number);
    if ((runs.seq[index] as number) <= (merged.get(bucket) ?? 0)) continue;
    const period = periodOf(runs.startedAt[index] as number);
    const name = `${bucket} ${period}`;
    let group = groups.get(name);
    if (group === undefined) {
      group = { bucket, period, runs: emptyColumns() };
      groups.set(name, group);
    }
    copyRun(runs, index, group.runs);
  }
  return [...groups.values()];
}

type LastChunk = Pick<RunChunksTable, 'bucket' | 'period' | 'no' | 'data'>;

function chunkRow(
  repositoryId: string,
  { bucket, period, runs }: ChunkRuns,
  chunks: readonly LastChunk[],
): RunChunksTable {
  const last = chunks.find((chunk) => chunk.bucket === bucket && chunk.period === period);
  const place = { repository_id: repositoryId, bucket, period };
  if (last === undefined || last.data.length >= FULL_CHUNK_BYTES) {
    return { ...place, no: last === undefined ? 0 : last.no + 1, data: packRuns(runs, FORMAT_PLACED) };
  }
  const together = emptyColumns();
  readAll(packedChunk(last.data), together);
  for (let index = 0; index < runs.seq.length; index++) copyRun(runs, index, together);
  return { ...place, no: last.no, data: packRuns(together, FORMAT_PLACED) };
}

function markMerged(
  statements: Statements,
  { repositoryId, upToSeq }: MergeSlice,
  added: readonly ChunkRuns[],
): Call[] {
  const buckets = new Set(added.map(({ bucket }) => bucket));
  return [...buckets].map((bucket) => callOf(statements.markMerged, { repositoryId, bucket, upToSeq }));
}

export function mergeStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Buckets = { repositoryId: string; fromBucket: number; toBucket: number };
  return {
    listMerged: compiler.statement<Buckets>()((param) =>
      builder
        .selectFrom('run_buckets')
        .select(['bucket', 'merged_seq'])
        .where('repository_id', '=', param('repositoryId'))
        .where('bucket', '>=', param('fromBucket'))
        .where('bucket', '<', param('toBucket')),
    ),
    listLastChunks: compiler.list<Buckets, number>()((param, periods) =>
      builder
        .selectFrom('run_chunks')
        .select(['bucket', 'period', 'no', 'data'])
        .where('repository_id', '=', param('repositoryId'))
        .where('bucket', '>=', param('fromBucket'))
        .where('bucket', '<', param('toBucket'))
        .where('period', 'in', periods)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('run_chunks as later')
                .select('later.no')
                .whereRef('later.repository_id', '=', 'run_chunks.repository_id')
                .whereRef('later.bucket', '=', 'run_chunks.bucket')
                .whereRef('later.period', '=', 'run_chunks.period')
                .whereRef('later.no', '>', 'run_chunks.no'),
            ),
          ),
        ),
    ),
    upsertChunks: compiler.bulk<RunChunksTable>(['repository_id', 'bucket', 'period', 'no', 'data'], (rows) =>
      builder
        .insertInto('run_chunks')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .columns(['repository_id', 'bucket', 'period', 'no'])
            .doUpdateSet((eb) => ({ data: eb.ref('excluded.data') })),
        ),
    ),
    markMerged: compiler.statement<{ repositoryId: string; bucket: number; upToSeq: number }>()((param) =>
      builder
        .insertInto('run_buckets')
        .values({ repository_id: param('repositoryId'), bucket: param('bucket'), merged_seq: param('upToSeq') })
        .onConflict((conflict) =>
          conflict
            .columns(['repository_id', 'bucket'])
            .doUpdateSet((eb) => ({ merged_seq: eb.ref('excluded.merged_seq') })),
        ),
    ),
  };
}
