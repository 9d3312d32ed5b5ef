import type { StoredRun } from '../test-ingest.ts';
import { RUN_CONCLUSIONS, type RunConclusion } from '../tests.ts';
import type { Schema } from './schema.ts';

/** Places in RUN_CONCLUSIONS. */
export const SUCCESS = 0;
export const FAILURE = 1;
export const SKIPPED = 2;

/** All of a repository. The order of the joins, which SQLite keeps, makes it one seek for each part and test. */
const RUNS = `from test_sequences cross join run_parts cross join runs
  where test_sequences.repository_id = :repositoryId and run_parts.repository_id = :repositoryId
  and runs.part = run_parts.part` as const;

/** Those that started at `since` or later. Runs of forgotten batches are not among them, wherever they are. */
export const STORED_RUNS = `${RUNS} and run_parts.last_started_at >= :since and runs.started_at >= :since
  and runs.seq > test_sequences.forgotten_seq` as const;

/** Those that the stored memories of their tests do not count yet. */
export const UNCOUNTED_RUNS = `${RUNS} and run_parts.last_seq > test_sequences.counted_seq
  and runs.seq > test_sequences.counted_seq` as const;

/** Batches of such runs. */
export const UNCOUNTED_BATCHES = `from test_sequences cross join test_batches
  where test_sequences.repository_id = :repositoryId and test_batches.repository_id = :repositoryId
  and test_batches.seq > test_sequences.counted_seq and test_batches.run_count > 0`;

export const RUN_COLUMNS =
  'runs.test_no, runs.started_at, runs.seq, runs.ordinal, runs.conclusion, runs.duration_us, runs.is_quarantined';

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
      part,
      test_no: testNo,
      started_at: startedAt,
      seq,
      ordinal,
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
