import type { StoredRun } from '../test-ingest.ts';
import { RUN_CONCLUSIONS, type RunConclusion } from '../tests.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';

export const SUCCESS = RUN_CONCLUSIONS.indexOf('SUCCESS');
export const FAILURE = RUN_CONCLUSIONS.indexOf('FAILURE');
export const SKIPPED = RUN_CONCLUSIONS.indexOf('SKIPPED');

type Repository = { readonly repositoryId: string };
export type RunsSince = Repository & { readonly since: number };

/** Those that started at `since` or later. Runs of forgotten batches are not among them, wherever they are. */
export function storedRuns<Args extends RunsSince>(compiler: StatementCompiler, param: Placeholders<Args>) {
  return runsOf(compiler, param)
    .where('run_parts.last_started_at', '>=', param('since'))
    .where('runs.started_at', '>=', param('since'))
    .whereRef('runs.seq', '>', 'test_sequences.forgotten_seq');
}

/** Those that the stored memories of their tests do not count yet. */
export function uncountedRuns<Args extends Repository>(compiler: StatementCompiler, param: Placeholders<Args>) {
  return runsOf(compiler, param)
    .whereRef('run_parts.last_seq', '>', 'test_sequences.counted_seq')
    .whereRef('runs.seq', '>', 'test_sequences.counted_seq');
}

/** Batches of such runs. */
export function uncountedBatches<Args extends Repository>({ dialect }: StatementCompiler, param: Placeholders<Args>) {
  return dialect.builder
    .selectFrom('test_sequences')
    .crossJoin('test_batches')
    .where('test_sequences.repository_id', '=', param('repositoryId'))
    .where('test_batches.repository_id', '=', param('repositoryId'))
    .whereRef('test_batches.seq', '>', 'test_sequences.counted_seq')
    .where('test_batches.run_count', '>', 0);
}

/** All of a repository. The order of the joins, which SQLite keeps, makes it one seek for each part and test. */
function runsOf<Args extends Repository>({ dialect }: StatementCompiler, param: Placeholders<Args>) {
  return dialect.builder
    .selectFrom('test_sequences')
    .crossJoin('run_parts')
    .crossJoin('runs')
    .where('test_sequences.repository_id', '=', param('repositoryId'))
    .where('run_parts.repository_id', '=', param('repositoryId'))
    .whereRef('runs.part', '=', 'run_parts.part');
}

export const RUN_COLUMNS = [
  ...(['runs.test_no', 'runs.started_at', 'runs.seq', 'runs.ordinal'] as const),
  ...(['runs.conclusion', 'runs.duration_us', 'runs.is_quarantined'] as const),
];

export type RunRow = Omit<Schema['runs'], 'part'>;

export function toRun(row: RunRow): StoredRun {
  return {
    testNo: row.test_no,
    startedAt: row.started_at,
    conclusion: RUN_CONCLUSIONS[row.conclusion] as RunConclusion,
    durationMs: row.duration_us === null ? null : row.duration_us / 1000,
    isQuarantined: Boolean(row.is_quarantined),
  };
}

export function fromRuns(
  { part, seq }: Pick<Schema['runs'], 'part' | 'seq'>,
  runs: readonly StoredRun[],
): Schema['runs'][] {
  const counts = new Map<number, number>();
  return runs.map(({ testNo, startedAt, conclusion, durationMs, isQuarantined }) => {
    const ordinal = counts.get(testNo) ?? 0;
    counts.set(testNo, ordinal + 1);
    return {
      ...{ part, test_no: testNo, started_at: startedAt, seq, ordinal },
      conclusion: RUN_CONCLUSIONS.indexOf(conclusion),
      duration_us: toMicroseconds(durationMs),
      is_quarantined: isQuarantined,
    };
  });
}

/** Durations are kept to the microsecond; an invalid one is dropped. */
export function toMicroseconds(durationMs: number | null): number | null {
  if (durationMs === null) return null;
  const microseconds = Math.round(durationMs * 1000);
  return microseconds >= 0 && Number.isSafeInteger(microseconds) ? microseconds : null;
}
