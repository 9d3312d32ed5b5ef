import type { Instant } from '../../lib/clock.ts';
import type { Monitor, MonitorType } from './monitor.ts';
import type { EarlierOutcome, ObservedRun, UploadFacts } from './run.ts';
import type { Evidence, JobRecord, MonitorData } from './state.ts';

/** The runs of one test in one upload, on a branch that the monitor looks at. */
export interface Batch {
  readonly upload: UploadFacts;
  readonly runs: readonly ObservedRun[];
  /** Of other uploads of the same commit and job. */
  readonly earlier: readonly EarlierOutcome[];
  readonly at: Instant;
}

/** What a decision may look at beside its own counts. */
export interface DetectorInput {
  readonly at: Instant;
  readonly isActive: boolean;
  readonly firstSeenAt: Instant;
  readonly passingMultiplicities: readonly number[];
  readonly jobs: readonly JobRecord[];
}

export type ResolutionCause = 'recovered' | 'stale' | 'withdrawn';

export type Decision =
  | { readonly kind: 'same' }
  | { readonly kind: 'active'; readonly reason: string; readonly evidence: Evidence }
  | { readonly kind: 'inactive'; readonly cause: ResolutionCause; readonly reason: string };

export const SAME: Decision = { kind: 'same' };

export interface Detector<Type extends MonitorType> {
  /** Counts the runs in. `data` is null at first, or where it was counted under other parameters. */
  fold(data: MonitorData[Type] | null, batch: Batch, monitor: Monitor<Type>): MonitorData[Type] | null;
  /** Whether what was counted fits the parameters; if not, it is counted anew. */
  fits?(data: MonitorData[Type], monitor: Monitor<Type>): boolean;
  decide(data: MonitorData[Type], monitor: Monitor<Type>, situation: DetectorInput): Decision;
  /** The next instant at which `decide` may say something else although nothing arrives. */
  nextAt(data: MonitorData[Type], monitor: Monitor<Type>, situation: DetectorInput): Instant | null;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Runs named as evidence; a count monitor keeps as many as it counts. */
export const KEPT_RUNS = 8;
