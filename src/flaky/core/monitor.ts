import type { Instant } from '../../lib/clock.ts';

export const MONITOR_TYPES = [
  'pass_on_retry',
  'failure_rate',
  'failure_count',
  'new_test',
  'skipped_test',
  'slow_test',
  'timeout_inflation',
] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];

/** Ordered from the mildest to the most severe. */
export const HEALTH_STATUSES = ['HEALTHY', 'FLAKY', 'BROKEN'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export type MonitorAction =
  | { readonly kind: 'classify'; readonly status: 'FLAKY' | 'BROKEN' }
  | { readonly kind: 'label'; readonly labels: readonly string[]; readonly removeOnResolve: boolean };

export interface MonitorParameters {
  readonly pass_on_retry: { readonly recoveryDays: number };
  readonly failure_rate: {
    readonly activationThreshold: number;
    readonly resolutionThreshold: number;
    readonly windowHours: number;
    readonly minimumSampleSize: number;
    /** Null: a test that no longer runs keeps its status. */
    readonly staleTimeoutHours: number | null;
  };
  readonly failure_count: {
    readonly failureCount: number;
    readonly windowMinutes: number;
    readonly resolutionTimeoutMinutes: number;
    /**
     * 1: failures count once until the test has passed again, so that a regression counts once. 0: each failure counts.
     */
    readonly passesBetween: number;
  };
  readonly new_test: { readonly newDays: number };
  readonly skipped_test: {
    readonly windowMinutes: number;
    readonly minimumSkippedCount: number;
    readonly resolutionDays: number;
  };
  readonly slow_test: {
    readonly thresholdMs: number;
    readonly percentile: number;
    readonly windowMinutes: number;
    readonly minimumSampleSize: number;
    readonly staleAfterMinutes: number | null;
  };
  readonly timeout_inflation: {
    readonly passPercentile: number;
    readonly failPercentile: number;
    readonly activationRatio: number;
    readonly resolutionRatio: number;
    readonly minimumGapMs: number;
    readonly minimumPassCount: number;
    readonly minimumFailCount: number;
    readonly windowHours: number;
  };
}

interface MonitorOf<Type extends MonitorType> {
  readonly id: string;
  readonly type: Type;
  readonly name: string;
  readonly enabled: boolean;
  /** Patterns; a run counts if any of them matches its branch. */
  readonly branches: readonly string[];
  readonly action: MonitorAction;
  readonly parameters: MonitorParameters[Type];
  readonly createdAt: Instant;
}

export type Monitor<Type extends MonitorType = MonitorType> = Type extends MonitorType ? MonitorOf<Type> : never;

/** Their counts say nothing about a test on a test branch, where a candidate of a broken pull request fails. */
export const COUNTING_FAILURES: ReadonlySet<MonitorType> = new Set(['failure_rate', 'failure_count']);

/** Monitors of age, speed and skips say nothing about a test's health. */
export const LABEL_ONLY_TYPES: ReadonlySet<MonitorType> = new Set([
  'new_test',
  'skipped_test',
  'slow_test',
  'timeout_inflation',
]);
