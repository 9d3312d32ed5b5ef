import { type Learned, NOTHING_LEARNED } from '../../src/engine/model/learned.ts';
import { checkSettings, DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/model/settings.ts';
import { runOracle } from '../../src/policy/baselines.ts';
import { generate, type Recipe } from '../../src/policy/generate.ts';
import { type Measures, measure } from '../../src/policy/measure.ts';
import { runSluice } from '../../src/policy/sluice.ts';
import type { Workload } from '../../src/policy/workload.ts';

export type Settings = Readonly<Record<string, unknown>>;

/** The settings that the limits are about. */
export function adaptive(runCost: number): Settings {
  return { optimizationMode: 'ADAPTIVE', runCost };
}

/** A queue that has seen no flakes needs no confirmations, and learns otherwise only from flakes. */
export const SURE = { ...NOTHING_LEARNED, flakes: { ...NOTHING_LEARNED.flakes, hits: 0 } };

const SKIPPING = { batch: true, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' };
const BATCHES_OF_8 = { ...SKIPPING, batchingMinSize: 8 };

/** The settings of today that ADAPTIVE is compared with. */
export const TODAY: Readonly<Record<string, Settings>> = {
  single: {},
  batch4: { ...SKIPPING, batchingMinSize: 4 },
  batch8: BATCHES_OF_8,
  optimistic: { canOptimisticallyMerge: true },
};

/** All CI runs take ten minutes. A load of 20 is 20 arrivals in this time. */
const CI_MINUTES = 10;
export const AT_ONCE = Number.POSITIVE_INFINITY;

export interface Drawn extends Partial<Recipe> {
  readonly prs: number;
  readonly load: number;
  readonly failureRate: number;
  readonly flakeRate?: number;
}

export function draw(seed: string, { load, flakeRate = 0, ...given }: Drawn): Workload {
  const recipe: Recipe = {
    seed,
    perHour: (load * 60) / CI_MINUTES,
    shape: 'flat',
    hours: undefined,
    medianMinutes: CI_MINUTES,
    p95Minutes: CI_MINUTES,
    breakRate: 0,
    conflictRate: 0,
    needRate: 0,
    targets: 0,
    targetsPerPr: 1,
    ...given,
  };
  return { source: 'bench', changes: generate(recipe), chance: { seed, flakeRate, gitMs: 0 } };
}

/** The measures of one policy on one workload, and on the same workload those of the oracle. */
export interface Trial extends Measures {
  readonly oracle: Measures;
}

export function play(workload: Workload, settings: Settings, learned: Learned = NOTHING_LEARNED): Trial {
  const [problem] = checkSettings(settings);
  if (problem !== undefined) throw new Error(`The setting ${problem.name} ${problem.message}.`);
  const outcome = runSluice(workload, { ...DEFAULT_SETTINGS, ...settings } as QueueSettings, { learned });
  return { ...measure([{ workload, outcome }]), oracle: measure([{ workload, outcome: runOracle(workload) }]) };
}

export const runsOf = ({ runs, merged, removed }: Measures): number => runs / (merged + removed);

/** CI time per decision, in runs. */
export const ciOf = ({ ciHours, merged, removed }: Measures): number =>
  (ciHours * 60) / CI_MINUTES / (merged + removed);

export const percentWronglyRemoved = ({ wronglyRemoved, pullRequests }: Measures): number =>
  (100 * wronglyRemoved) / pullRequests;

export function timesOracle(percentile: 'p50' | 'p95' | 'p99'): (trial: Trial) => number {
  const minutes = ({ timeToLandMinutes }: Measures) => timeToLandMinutes[percentile] ?? Number.NaN;
  return (trial) => minutes(trial) / minutes(trial.oracle);
}
