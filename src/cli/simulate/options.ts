import {
  checkSettings,
  type QueueSettings,
  SETTING_NAMES,
  SETTING_SPECS,
  type SettingName,
} from '../../engine/model/settings.ts';
import { type Arrivals, type Recipe, SHAPES } from '../../policy/generate.ts';
import type { Chance } from '../../policy/workload.ts';
import { toFlag } from '../core/arguments.ts';
import { usageError } from '../core/exit.ts';
import { proposal } from '../core/nearest.ts';

interface NamedSettings {
  readonly name: string;
  readonly settings: Partial<QueueSettings>;
}

type Kind = 'generated' | 'outcomes' | 'history';
export type Source = ReturnType<typeof sourceOf>;
export type Options = ReturnType<typeof readOptions>;

/** The options that apply to each source. Others are refused instead of ignored. */
const ONLY_WITH = {
  generated: [
    ...(['prs', 'hours', 'perHour', 'atOnce', 'shape', 'ciMedian', 'ciP95', 'failureRate', 'breakRate'] as const),
    ...(['conflictRate', 'needRate', 'overlap', 'targets', 'targetsPerPr'] as const),
  ],
  outcomes: ['outcomes', 'project', 'limit', 'perHour', 'atOnce', 'shape'],
  history: ['data', 'repo', 'branch', 'days'],
} as const satisfies Record<Kind, readonly string[]>;

type TextName =
  | (typeof ONLY_WITH)[Kind][number]
  | 'slots'
  | 'seed'
  | 'flakeRate'
  | 'probeShare'
  | 'maskRate'
  | 'gitSeconds'
  | 'window'
  | 'windowFloor';

export type Given = Readonly<
  Partial<Record<NumberName, string>> & {
    atOnce?: true;
    set?: readonly string[];
    baselines?: boolean;
    json?: true;
    jsonFields?: string;
  }
>;

/** More pull requests would fill the memory. */
const MAX_COUNT = 1_000_000;
const MINUTES = { min: 0.01, max: 100_000 };
/** Columns are named by letters. */
const MAX_COLUMNS = 26;

// SPEC W44
export function readOptions(given: Given) {
  const kind = kindOf(given);
  refuseOthers(given, kind);
  return {
    source: sourceOf(given, kind),
    seed: given.seed ?? '1',
    flakeRate: rate(given, 'flakeRate', kind === 'generated' ? 0.01 : 0),
    tests: testsOf(given),
    gitMs: number(given, 'gitSeconds', 0, { min: 0, max: 86_400 }) * 1000,
    /** One column of Sluice for each. */
    variants: variantsOf(given),
    window: { start: integer(given, 'window', 20, 1), floor: integer(given, 'windowFloor', 3, 1) },
    hasBaselines: given.baselines !== false,
  };
}

/** Reports name tests only where CI can run them alone: a queue without questions decides the same without reports. */
function testsOf(given: Given): Pick<Chance, 'probeShare' | 'maskRate'> {
  const maskRate = rate(given, 'maskRate', 0);
  if (given.probeShare !== undefined)
    return { probeShare: number(given, 'probeShare', 1, { min: 0.01, max: 1 }), maskRate };
  if (given.maskRate !== undefined) throw usageError('--mask-rate needs --probe-share.');
  return {};
}

function kindOf(given: Given): Kind {
  if (given.outcomes !== undefined) return 'outcomes';
  return given.data !== undefined ? 'history' : 'generated';
}

function refuseOthers(given: Given, kind: Kind): void {
  const own: readonly string[] = ONLY_WITH[kind];
  const stray = Object.values(ONLY_WITH)
    .flat()
    .find((name) => given[name] !== undefined && !own.includes(name));
  const where = { generated: 'pull requests that are made up', outcomes: '--outcomes', history: '--data' }[kind];
  if (stray !== undefined) throw usageError(`--${toFlag(stray)} means nothing with ${where}.`);
  refuseBoth(given, 'perHour', 'atOnce');
  refuseBoth(given, 'overlap', 'targets');
  refuseBoth(given, 'overlap', 'targetsPerPr');
}

function refuseBoth(given: Given, one: TextName, other: TextName): void {
  if (given[one] === undefined || given[other] === undefined) return;
  throw usageError(`Write --${toFlag(one)} or --${toFlag(other)}, not both.`);
}

function sourceOf(given: Given, kind: Kind) {
  switch (kind) {
    case 'generated':
      return { kind, recipe: recipeOf(given) };
    case 'outcomes':
      return {
        kind,
        file: given.outcomes ?? '',
        project: given.project,
        limit: integer(given, 'limit', MAX_COUNT, 1),
        arrivals: arrivalsOf(given),
      };
    case 'history':
      return {
        kind,
        data: given.data ?? '',
        repo: given.repo,
        branch: given.branch ?? 'main',
        days: number(given, 'days', 7, { min: 0.01, max: 3650 }),
      };
  }
}

function recipeOf(given: Given): Recipe {
  const medianMinutes = number(given, 'ciMedian', 10, MINUTES);
  const p95Minutes = number(given, 'ciP95', medianMinutes * 2, MINUTES);
  if (p95Minutes < medianMinutes) throw usageError('--ci-p95 must not be less than --ci-median.');
  if (given.atOnce === true && given.hours !== undefined) throw usageError('--hours means nothing with --at-once.');
  const isEndless = given.prs === undefined && given.hours === undefined;
  const prs = integer(given, 'prs', isEndless ? 500 : MAX_COUNT, 1);
  return {
    ...arrivalsOf(given),
    prs,
    hours: given.hours === undefined ? undefined : number(given, 'hours', 0, { min: 0.01, max: 100_000 }),
    medianMinutes,
    p95Minutes,
    failureRate: rate(given, 'failureRate', 0.05),
    breakRate: rate(given, 'breakRate', 0.01),
    conflictRate: rate(given, 'conflictRate', 0.01),
    needRate: rate(given, 'needRate', 0),
    ...targetsOf(given),
  };
}

/** With one of `targets` each, two pull requests overlap in one of `targets` cases. */
function targetsOf(given: Given): Pick<Recipe, 'targets' | 'targetsPerPr'> {
  const overlap = number(given, 'overlap', 0, { min: 0.0001, max: 1 });
  if (overlap > 0) return { targets: Math.round(1 / overlap), targetsPerPr: 1 };
  return { targets: integer(given, 'targets', 0, 0), targetsPerPr: integer(given, 'targetsPerPr', 1, 1) };
}

function arrivalsOf(given: Given): Arrivals {
  const { shape = 'flat', seed = '1' } = given;
  if (!Object.hasOwn(SHAPES, shape)) throw usageError(`--shape is one of ${Object.keys(SHAPES).join(', ')}.`);
  const perHour =
    given.atOnce === true ? Number.POSITIVE_INFINITY : number(given, 'perHour', 20, { min: 0.01, max: 1_000_000 });
  return { seed, perHour, shape: shape as Arrivals['shape'] };
}

// SPEC W43
function variantsOf(given: Given): NamedSettings[] {
  const { set = [], overlap } = given;
  if (set.length > MAX_COLUMNS) throw usageError(`Write --set at most ${MAX_COLUMNS} times.`);
  const slots = given.slots === undefined ? {} : checked({ concurrency: integer(given, 'slots', 5, 1) }, '--slots');
  const common = { ...slots, ...(overlap === undefined ? {} : ({ mode: 'PARALLEL' } as const)) };
  if (set.length === 0) return [{ name: 'sluice', settings: common }];
  return set.map((text) => ({ name: text.trim(), settings: { ...common, ...parseSettings(text) } }));
}

/** `concurrency=10,batch=true,batchingRules=[...]`: a comma separates only before the name of a setting. */
function parseSettings(text: string): Partial<QueueSettings> {
  const pairs = text.split(/,(?=\s*\w+=)/);
  return checked(Object.fromEntries(pairs.map(parseSetting)));
}

function checked(settings: Readonly<Record<string, unknown>>, flag?: string): Partial<QueueSettings> {
  const [problem] = checkSettings(settings);
  if (problem === undefined) return settings as Partial<QueueSettings>;
  const { name, message } = problem;
  const hint = Object.hasOwn(SETTING_SPECS, name) ? '' : proposal(name, SETTING_NAMES);
  throw usageError(`${flag ?? `The setting ${name}`} ${message}.${hint}`);
}

function parseSetting(pair: string): [string, unknown] {
  const at = pair.indexOf('=');
  if (at === -1) throw usageError(`"${pair.trim()}" is no setting: write it as name=value.`);
  const name = pair.slice(0, at).trim();
  const value = pair.slice(at + 1).trim();
  const kind = Object.hasOwn(SETTING_SPECS, name) ? SETTING_SPECS[name as SettingName].kind : undefined;
  if (kind === 'choice') return [name, value.toUpperCase()];
  if (kind === 'text' || kind === undefined) return [name, value];
  try {
    return [name, JSON.parse(value)];
  } catch {
    throw usageError(`The value of ${name} cannot be read: ${value}.`);
  }
}

type NumberName = Exclude<TextName, 'atOnce'>;

function number(
  given: Given,
  name: NumberName,
  otherwise: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const text = given[name];
  if (text === undefined) return otherwise;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= min && value <= max) return value;
  throw usageError(`--${toFlag(name)} must be a number from ${min} to ${max}.`);
}

function rate(given: Given, name: NumberName, otherwise: number): number {
  return number(given, name, otherwise, { min: 0, max: 1 });
}

function integer(given: Given, name: NumberName, otherwise: number, min: number): number {
  const value = number(given, name, otherwise, { min, max: MAX_COUNT });
  if (!Number.isSafeInteger(value)) throw usageError(`--${toFlag(name)} must be a whole number.`);
  return value;
}
