import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/model/settings.ts';
import { Prng } from '../../src/lib/prng.ts';
import type { CourierRates } from '../fake/courier.ts';
import type { CiRates } from '../fake/fake-ci.ts';
import type { FaultRates } from './faulty.ts';
import { TROUBLES, type Trouble } from './troubles.ts';

export const CHECKS = ['unit', 'lint'] as const;
export const AREAS = ['x', 'y', 'z'] as const;

/** The conditions of a run, drawn from its seed before anything happens. */
export interface Conditions {
  readonly servers: 1 | 2;
  readonly pullRequests: number;
  /** How long people act and faults occur before the calm phase. */
  readonly busyMs: number;
  /** How many acts people do besides opening pull requests. */
  readonly acts: number;
  readonly settings: QueueSettings;
  /** The required checks of the forge's branch protection, if the queue names none. */
  readonly protection: readonly string[];
  /** Uploaded targets name every area that a change touches. */
  readonly isHonest: boolean;
  /** Clocks of servers jump. */
  readonly hasBadClocks: boolean;
  readonly wideRate: number;
  /** The share of store calls that take any time. */
  readonly storeDelayRate: number;
  readonly rates: Rates;
  /** Troubles that affect the whole world at once. */
  readonly troubles: readonly Trouble[];
  /** Absent: no pull request is opened on top of another. */
  readonly stacks?: Stacks;
}

/** Asked for on the command line, so that a seed without them stays as it is. */
export interface Stacks {
  /** The share of pull requests that are opened on top of another open one. */
  readonly rate: number;
  /** At most so many are above each other. */
  readonly depth: number;
}

export interface Rates {
  readonly forge: FaultRates;
  readonly landing: FaultRates;
  readonly store: FaultRates;
  readonly hints: CourierRates;
  readonly ci: CiRates;
  /** The forge refuses to merge. */
  readonly refusal: number;
}

const REQUIRED = [['unit', 'lint'], ['unit', 'lint'], ['unit', 'lint'], ['unit'], [], null, null] as const;

/** Seeds before this one are older than the setting and keep their runs: they do not honor quarantine. */
export const FIRST_QUARANTINE_SEED = 10_001;
/** Seeds before this one are older than merge APIs: they always land by push. */
export const FIRST_API_SEED = 20_001;
/** From this seed on, troubles make innocent changes look guilty, and little else goes wrong. */
export const FIRST_TROUBLED_SEED = 30_001;

/** From this seed on, most queues are ADAPTIVE. Every second one is troubled. */
export const FIRST_ADAPTIVE_SEED = 1_000_001;

/** From this seed on, freezes begin and end while people work. */
export const FIRST_FREEZE_SEED = 2_000_001;

export function drawConditions(random: Prng, seed: number): Conditions {
  const isTroubled = seed < FIRST_ADAPTIVE_SEED ? seed >= FIRST_TROUBLED_SEED : seed % 2 === 0;
  const drawn = isTroubled ? drawTroubled(random) : draw(random);
  const honorQuarantine = drawQuarantine(new Prng(`honor ${seed}`), seed);
  const adaptive = drawAdaptive(new Prng(`adaptive ${seed}`), seed);
  const settings = {
    ...drawn.settings,
    honorQuarantine,
    confirmFailures: drawConfirmations(`confirm ${seed}`),
    landingMode: drawLandingMode(seed),
    ...adaptive,
    freezes: drawFreezes(seed),
  };
  return { ...drawn, settings };
}

function drawConfirmations(seed: string): QueueSettings['confirmFailures'] {
  return new Prng(seed).chance(0.5) ? 'AUTO' : 'NEVER';
}

function drawLandingMode(seed: number): QueueSettings['landingMode'] {
  return seed < FIRST_API_SEED ? 'PUSH' : new Prng(`landing ${seed}`).pick(['API', 'API', 'API', 'PUSH'] as const);
}

function drawQuarantine(random: Prng, seed: number): QueueSettings['honorQuarantine'] {
  return seed < FIRST_QUARANTINE_SEED ? 'OFF' : random.pick(['SHADOW', 'ON', 'ON', 'ON'] as const);
}

/** The time of a run begins with 2025. */
function drawFreezes(seed: number): QueueSettings['freezes'] {
  const random = new Prng(`freezes ${seed}`);
  return Array.from({ length: seed < FIRST_FREEZE_SEED ? 0 : random.between(1, 3) }, (_, index) => {
    const minute = random.between(0, 1);
    const [from, until] = [minute, minute + random.between(1, 2)].map((each) => `2025-01-01T00:0${each}`);
    const when = { from: from ?? '', until: until ?? '', timeZone: 'UTC', repeat: 'NONE' as const };
    return { name: `freeze ${index}`, ...when, allowUrgent: random.chance(0.5) };
  });
}

function drawAdaptive(random: Prng, seed: number): Partial<QueueSettings> {
  if (seed < FIRST_ADAPTIVE_SEED || random.chance(0.2)) return {};
  const runCost = random.pick([0.1, 0.5, 1, 2, 4, 16] as const);
  return { optimizationMode: 'ADAPTIVE', runCost, maxGroupSize: random.pick([2, 5, 64] as const) };
}

function draw(random: Prng): Conditions {
  const strength = random.pick([0.4, 1, 1, 2] as const);
  return {
    servers: random.chance(0.6) ? 2 : 1,
    pullRequests: random.between(6, 12),
    busyMs: random.between(35_000, 70_000),
    acts: random.between(4, 18),
    settings: drawSettings(random),
    protection: random.pick([['unit'], ['unit', 'lint']] as const),
    isHonest: random.chance(0.7),
    hasBadClocks: random.chance(0.25),
    wideRate: random.pick([0, 0.2, 0.5] as const),
    storeDelayRate: random.pick([0.03, 0.1, 0.4] as const),
    rates: drawRates(random, strength),
    troubles: [],
  };
}

/** With permanent flakes and lost requests, wrong removals could hardly be detected. */
function drawTroubled(random: Prng): Conditions {
  const drawn = draw(random);
  const rates = drawRates(random, random.pick([0, 0, 0.2, 0.5] as const));
  const isQuiet = random.chance(0.7);
  const quiet = { flaky: 0, blind: 0, cancelled: 0.02, lost: 0, ahead: 0, rerun: random.pick([0, 0.2] as const) };
  const count = random.between(3, 7);
  return {
    ...drawn,
    pullRequests: random.between(6, 12),
    busyMs: random.between(60_000, 120_000),
    acts: random.pick([0, 2, 5] as const),
    hasBadClocks: false,
    settings: {
      ...drawn.settings,
      batch: random.chance(0.6),
      canOptimisticallyMerge: random.chance(0.5),
      requiredStatuses: random.pick([['unit', 'lint'], ['unit'], null, null] as const) ?? null,
    },
    rates: { ...rates, ci: { ...rates.ci, ...(isQuiet ? quiet : { blind: 0 }) } },
    troubles: Array.from({ length: count }, () => random.pick(TROUBLES)),
  };
}

function drawSettings(random: Prng): QueueSettings {
  const mode = random.pick(['SINGLE', 'PARALLEL', 'PARALLEL'] as const);
  return {
    ...DEFAULT_SETTINGS,
    mode,
    concurrency: random.pick([1, 2, 3, 5] as const),
    bisectionConcurrency: random.pick([null, null, 0, 1, 3] as const),
    testingTimeoutMinutes: random.pick([1, 1, 2] as const),
    pendingFailureDepth: random.pick([0, 0, 1, 3] as const),
    canOptimisticallyMerge: random.chance(0.4),
    batch: random.chance(0.5),
    batchingMaxWaitTimeMinutes: random.pick([0, 1] as const),
    batchingMinSize: random.pick([2, 3, 4] as const),
    batchingRules: random.chance(0.15) ? [{ targetPattern: 'x*', policy: 'ISOLATE' }] : [],
    optimizationMode: random.chance(0.5) ? 'BISECTION_SKIP_REDUNDANT_TESTS' : 'OFF',
    directMergeMode: random.chance(0.3) ? 'ALWAYS' : 'OFF',
    mergeMethod: random.pick(['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const),
    exactLanding: random.chance(0.25),
    reusePassedTrees: random.chance(0.8),
    requiredStatuses: random.pick(REQUIRED),
    honorQuarantine: 'OFF',
  };
}

/** One or a few settings that an operator changes during the run. */
export function drawSettingsChange(random: Prng, seed: number): Partial<QueueSettings> {
  const { mode: _mode, runCost: _cost, maxGroupSize: _size, freezes: _freezes, ...drawn } = drawSettings(random);
  const names = random.shuffle(Object.keys(drawn) as (keyof typeof drawn)[]).slice(0, 6);
  // Changes of the required checks find the most bugs.
  const chosen = random.chance(0.3) ? [...names, 'requiredStatuses' as const] : names;
  const honorQuarantine = drawQuarantine(new Prng(`honor ${names.join()}`), seed);
  const confirmFailures = drawConfirmations(`confirm ${names.join()}`);
  const own = { ...drawn, honorQuarantine, confirmFailures };
  const changes = Object.fromEntries(chosen.map((name) => [name, own[name]]));
  return { ...changes, ...drawAdaptive(new Prng(`adaptive ${names.join()}`), seed) };
}

function drawRates(random: Prng, strength: number): Rates {
  const of = (rate: number) => rate * strength;
  return {
    forge: {
      refused: of(0.03),
      lost: of(0.02),
      timedOutBefore: of(0.005),
      timedOutAfter: of(0.01),
      doneAfterTimeout: of(0.004),
      crashBefore: of(0.001),
      crashAfter: of(0.001),
    },
    landing: {
      refused: of(0.04),
      lost: of(0.05),
      timedOutBefore: of(0.02),
      timedOutAfter: of(0.03),
      // A landing is guarded by the heads of the target branch and the pull request. If the forge executes it after it
      // was given up, and both heads are back where they were, no client can prevent it.
      doneAfterTimeout: 0,
      crashBefore: of(0.03),
      crashAfter: of(0.08),
    },
    store: { refused: of(0.004), lost: of(0.002), crashBefore: of(0.0008), crashAfter: of(0.0008) },
    hints: { lost: of(0.05), doubled: of(0.1), late: of(0.05) },
    ci: {
      flaky: of(random.pick([0.02, 0.1] as const)),
      blind: random.chance(0.2) ? 0.05 : 0,
      cancelled: of(0.03),
      lost: of(0.02),
      rerun: 0.3,
      timeless: of(0.1),
      ahead: of(0.03),
    },
    refusal: random.chance(0.3) ? of(0.02) : 0,
  };
}

/** Each name as often as it weighs. */
export function listByWeight<Name extends string>(weights: Readonly<Record<Name, number>>): readonly Name[] {
  const pairs = Object.entries(weights) as [Name, number][];
  return pairs.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
}
