import type { MonitorParameters, MonitorType } from './core/monitor.ts';

/** The accepted values of a parameter. Without `initial` it is required; `initial: null` means that it may be unset. */
export interface ParameterSpec {
  readonly kind: 'integer' | 'number';
  readonly min: number;
  readonly max: number;
  /** The minimum itself is refused. */
  readonly isAboveMin?: true;
  readonly initial?: number | null;
  readonly text: string;
}

/** The longest retention of runs bounds every window. */
const MAX_DAYS = 45;
const MAX_HOURS = MAX_DAYS * 24;
const MAX_MINUTES = MAX_HOURS * 60;
/** A test's state remembers as many failures one by one. */
const MAX_COUNT = 100;

const fraction = (text: string, initial?: number): ParameterSpec => ({
  kind: 'number',
  min: 0,
  isAboveMin: true,
  max: 1,
  ...(initial === undefined ? {} : { initial }),
  text,
});
const integer = (text: string, max: number, initial?: number | null): ParameterSpec => ({
  kind: 'integer',
  min: 1,
  max,
  ...(initial === undefined ? {} : { initial }),
  text,
});

type SpecsOf<Type extends MonitorType> = { readonly [Name in keyof MonitorParameters[Type]]: ParameterSpec };

export const PARAMETER_SPECS: { readonly [Type in MonitorType]: SpecsOf<Type> } = {
  pass_on_retry: { recoveryDays: integer('Resolves after so many days without another such event.', 15, 7) },
  failure_rate: {
    activationThreshold: fraction('Activates when at least this fraction of the runs in the window failed.'),
    resolutionThreshold: fraction('Resolves below this fraction. The activation threshold unless given.', Number.NaN),
    windowHours: integer('How far back runs count.', MAX_HOURS),
    minimumSampleSize: integer('With fewer runs in the window nothing changes.', 100_000),
    staleTimeoutHours: integer('Resolves as stale after so long without a run; null: never.', MAX_HOURS, null),
  },
  failure_count: {
    failureCount: integer('Activates at so many failures in the window.', MAX_COUNT, 1),
    windowMinutes: integer('How far back failures count.', MAX_MINUTES),
    resolutionTimeoutMinutes: integer('Resolves after so long without a failure; not below the window.', MAX_MINUTES),
    passesBetween: {
      kind: 'integer',
      min: 0,
      max: 1,
      initial: 0,
      text: '1: failures count as one until the test has passed again, as those of a regression do. 0: each counts.',
    },
  },
  new_test: { newDays: integer('For so many days after it was first seen a test is new.', MAX_DAYS) },
  skipped_test: {
    windowMinutes: integer('How far back skipped runs count.', MAX_MINUTES),
    minimumSkippedCount: integer('Activates at so many skipped runs in the window.', MAX_COUNT),
    resolutionDays: integer('Resolves after so many days without a skipped run.', MAX_DAYS),
  },
  slow_test: {
    thresholdMs: integer('Activates when the duration at the percentile is at least this.', 86_400_000),
    percentile: fraction('Which duration of the window is compared: 0.95 leaves out the slowest twentieth.'),
    windowMinutes: integer('How far back runs count.', MAX_MINUTES),
    minimumSampleSize: integer('With fewer runs in the window nothing changes.', 100_000),
    staleAfterMinutes: integer('Resolves as stale after so long without a run; null: never.', MAX_MINUTES, null),
  },
  timeout_inflation: {
    passPercentile: fraction('Which duration of passing runs is compared.', 0.95),
    failPercentile: fraction('Which duration of failing runs is compared.', 0.5),
    activationRatio: {
      kind: 'number',
      min: 1,
      max: 1000,
      initial: 2,
      text: 'Activates when failing runs take at least so many times as long as passing ones.',
    },
    resolutionRatio: {
      kind: 'number',
      min: 0,
      isAboveMin: true,
      max: 1000,
      initial: 1.5,
      text: 'Resolves at this ratio or below; not above the activation ratio.',
    },
    minimumGapMs: {
      kind: 'integer',
      min: 0,
      max: 86_400_000,
      initial: 3000,
      text: 'The difference must also be more than this.',
    },
    minimumPassCount: integer('With fewer passing runs in the window nothing changes.', 100_000, 5),
    minimumFailCount: integer('With fewer failing runs in the window nothing changes.', 100_000, 3),
    windowHours: integer('How far back runs count.', MAX_HOURS, 168),
  },
};
