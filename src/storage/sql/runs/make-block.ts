import { toMicroseconds } from '../../run-duration.ts';
import type { StoredRun } from '../../test-ingest.ts';
import { RUN_CONCLUSIONS } from '../../tests.ts';
import { periodOf } from './buckets.ts';
import { FORMAT_BATCH, packRuns } from './pack-runs.ts';
import {
  CONCLUSION_MASK,
  conclusionAt,
  durationAt,
  emptyColumns,
  NO_DURATION,
  QUARANTINED,
  type RunColumns,
} from './run-columns.ts';

export interface Block {
  readonly data: Uint8Array;
  readonly runCount: number;
  readonly periods: { readonly first: number; readonly last: number };
}

export function makeBlock(runs: readonly StoredRun[]): Block {
  const columns = emptyColumns();
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const run of runs) {
    columns.testNo.push(run.testNo);
    columns.startedAt.push(run.startedAt);
    columns.flags.push(RUN_CONCLUSIONS.indexOf(run.conclusion) | (run.isQuarantined ? QUARANTINED : 0));
    columns.duration.push(toMicroseconds(run.durationMs) ?? NO_DURATION);
    if (run.startedAt < first) first = run.startedAt;
    if (run.startedAt > last) last = run.startedAt;
  }
  const periods = runs.length === 0 ? { first: 0, last: 0 } : { first: periodOf(first), last: periodOf(last) };
  return { data: packRuns(columns, FORMAT_BATCH), runCount: runs.length, periods };
}

export function runAt(columns: RunColumns, index: number): StoredRun {
  return {
    testNo: columns.testNo[index] as number,
    startedAt: columns.startedAt[index] as number,
    conclusion: conclusionAt(columns, index),
    durationMs: durationAt(columns, index),
    isQuarantined: ((columns.flags[index] as number) & QUARANTINED) !== 0,
  };
}

export function hasConclusion({ flags }: RunColumns, index: number, conclusion: number): boolean {
  return ((flags[index] as number) & CONCLUSION_MASK) === conclusion;
}
