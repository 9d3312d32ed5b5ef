/**
 * The state of one test: plain JSON, bounded in size, and enough to fold the next upload without reading old runs.
 *
 * `fold` (runs into counts) and `decide` (counts into active or not, at an instant) are separate. Folding commutes: the
 * counts do not depend on the order of uploads. Deciding reads the counts, the clock, and whether the monitor is
 * active, since the threshold to activate may differ from the one to resolve.
 */
import type { Instant } from '../../lib/clock.ts';
import type { Buckets } from './buckets.ts';
import type { HealthStatus, MonitorType } from './monitor.ts';
import type { PlacePasses } from './occasions.ts';
import type { KnownPath } from './paths.ts';
import type { RetryEvent } from './retry.ts';
import type { RunRef } from './run.ts';

/** Durations in steps of 5%: step number and count. */
export type Histogram = readonly (readonly [step: number, count: number])[];

export type RecentRun = readonly [at: Instant, hasFailed: 0 | 1];

export interface MonitorData {
  readonly pass_on_retry: {
    /** The latest, newest first. */
    readonly certain: readonly RetryEvent[];
    /** The latest of each multiplicity and kind, because these may be withdrawn. */
    readonly repeated: readonly RetryEvent[];
  };
  readonly failure_rate: {
    readonly windowMs: number;
    /** Passes and failures. */
    readonly buckets: Buckets;
    readonly lastRunAt: Instant;
    readonly failures: readonly RunRef[];
    /** The latest runs, newest first. Kept only if the monitor also calls a test broken by them. */
    readonly recent?: readonly RecentRun[];
  };
  readonly failure_count: {
    readonly failures: readonly RunRef[];
    /** These three tell independent failures from those of one regression. */
    readonly sliceMs: number;
    readonly occasions: readonly RunRef[];
    readonly passes: readonly PlacePasses[];
  };
  readonly new_test: { readonly firstSeenAt: Instant };
  readonly skipped_test: { readonly skips: readonly RunRef[] };
  readonly slow_test: {
    readonly windowMs: number;
    readonly thresholdMs: number;
    /** Runs below the threshold, and the others. */
    readonly buckets: Buckets;
    readonly lastRunAt: Instant;
  };
  readonly timeout_inflation: {
    readonly windowMs: number;
    /** Durations of passing and of failing runs. */
    readonly buckets: readonly (readonly [slice: number, passing: Histogram, failing: Histogram])[];
    readonly failures: readonly RunRef[];
  };
}

/** Figures that led to a detection, and the runs behind them. */
export interface Evidence {
  readonly runs: readonly RunRef[];
  readonly figures: Readonly<Record<string, number>>;
}

export interface Mute {
  readonly at: Instant;
  /** Null: until a person unmutes it. */
  readonly until: Instant | null;
  readonly actor: string;
  readonly reason: string | null;
}

export interface MonitorState {
  readonly type: MonitorType;
  readonly data: MonitorData[MonitorType] | null;
  /** Null: not active. */
  readonly activeSince: Instant | null;
  readonly wasActive: boolean;
  /** Why it is active, as a sentence. */
  readonly reason: string;
  readonly evidence: Evidence | null;
  readonly mute: Mute | null;
}

export interface Flag {
  readonly at: Instant;
  readonly actor: string;
  readonly reason: string | null;
}

/** A label stays until every source of it is gone. */
export interface LabelSource {
  readonly label: string;
  readonly source: { readonly kind: 'monitor'; readonly id: string } | { readonly kind: 'user'; readonly name: string };
  readonly since: Instant;
}

export interface JobRecord {
  readonly job: string;
  readonly passedAt: Instant | null;
  readonly failedAt: Instant | null;
}

export interface TestState {
  readonly firstSeenAt: Instant;
  readonly status: HealthStatus;
  readonly statusReason: string;
  /** Null until a monitor or a person first classified the test. */
  readonly statusSince: Instant | null;
  readonly monitors: Readonly<Record<string, MonitorState>>;
  readonly flag: Flag | null;
  readonly labels: readonly LabelSource[];
  /** Numbers of occurrences (above one) of the case in one upload in which all occurrences passed. */
  readonly passingMultiplicities: readonly number[];
  readonly jobs: readonly JobRecord[];
  /** The suite paths of its runs, by first sight; absent: no run had one. */
  readonly paths?: readonly KnownPath[];
  /** The next instant at which the state changes without a run; null: never. */
  readonly nextCheckAt: Instant | null;
}

export function newTestState(firstSeenAt: Instant): TestState {
  return {
    firstSeenAt,
    status: 'HEALTHY',
    statusReason: 'No monitor has detected a problem.',
    statusSince: null,
    monitors: {},
    flag: null,
    labels: [],
    passingMultiplicities: [],
    jobs: [],
    nextCheckAt: null,
  };
}

export function newMonitorState(type: MonitorType): MonitorState {
  return { type, data: null, activeSince: null, wasActive: false, reason: '', evidence: null, mute: null };
}
