import type { Instant } from '../../lib/clock.ts';
import type { Monitor, MonitorType } from './monitor.ts';
import type { EarlierOutcome, ObservedRun, UploadFacts } from './run.ts';
import type { Evidence, JobRecord, MonitorData } from './state.ts';

/** The runs of one test in one upload, on a branch that the monitor matches. */
export interface Batch {
  readonly upload: UploadFacts;
  readonly runs: readonly ObservedRun[];
  /** Outcomes from other uploads of the same job and the same commit or tree. */
  readonly earlier: readonly EarlierOutcome[];
  readonly at: Instant;
}

/** Input of a decision besides the monitor's own counts. */
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
  /** Counts the runs. `data` is null at first, and after a change of parameters that needs new counts. */
  fold(data: MonitorData[Type] | null, batch: Batch, monitor: Monitor<Type>): MonitorData[Type] | null;
  /** Tells whether the counts were made under these parameters; if not, counting starts again. */
  fits?(data: MonitorData[Type], monitor: Monitor<Type>): boolean;
  decide(data: MonitorData[Type], monitor: Monitor<Type>, situation: DetectorInput): Decision;
  /** The next instant at which `decide` may change its answer without a new run. */
  nextAt(data: MonitorData[Type], monitor: Monitor<Type>, situation: DetectorInput): Instant | null;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Number of runs kept as evidence; a count monitor keeps as many as it counts. */
export const KEPT_RUNS = 8;

const HOUR = 60;
const DAY = 24 * HOUR;

/** In the largest unit that gives a whole number. */
export function durationWords(minutes: number): string {
  if (minutes % DAY === 0) return counted(minutes / DAY, 'day');
  return minutes % HOUR === 0 ? counted(minutes / HOUR, 'hour') : counted(minutes, 'minute');
}

export function counted(count: number, unit: string): string {
  return `${count} ${count === 1 ? unit : `${unit}s`}`;
}
