import { parseArgs } from 'node:util';
import { checkSettings, type QueueSettings, SETTING_SPECS, type SettingName } from '../../engine/settings.ts';
import type { WindowSize } from '../../policy/baselines.ts';
import { type Arrivals, type Recipe, SHAPES } from '../../policy/generate.ts';

/** A wrong usage. The message explains it to the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface NamedSettings {
  readonly name: string;
  readonly settings: Partial<QueueSettings>;
}

export type Source =
  | { readonly kind: 'generated'; readonly recipe: Recipe }
  | {
      readonly kind: 'outcomes';
      readonly file: string;
      readonly project: string | undefined;
      readonly limit: number;
      readonly arrivals: Arrivals;
    }
  | {
      readonly kind: 'history';
      readonly data: string;
      readonly repo: string | undefined;
      readonly branch: string;
      readonly days: number;
    };

export interface Options {
  readonly source: Source;
  readonly seed: string;
  readonly flakeRate: number;
  readonly gitMs: number;
  /** One column of Sluice for each. */
  readonly variants: readonly NamedSettings[];
  readonly window: WindowSize;
  readonly hasBaselines: boolean;
  readonly isJson: boolean;
}

const DEFINITIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  'no-baselines': { type: 'boolean' },
  seed: { type: 'string' },
  set: { type: 'string', multiple: true },
  compare: { type: 'string', multiple: true },
  prs: { type: 'string' },
  hours: { type: 'string' },
  'per-hour': { type: 'string' },
  shape: { type: 'string' },
  'ci-median': { type: 'string' },
  'ci-p95': { type: 'string' },
  'failure-rate': { type: 'string' },
  'flake-rate': { type: 'string' },
  'break-rate': { type: 'string' },
  'conflict-rate': { type: 'string' },
  targets: { type: 'string' },
  'targets-per-pr': { type: 'string' },
  'git-seconds': { type: 'string' },
  window: { type: 'string' },
  'window-floor': { type: 'string' },
  outcomes: { type: 'string' },
  project: { type: 'string' },
  limit: { type: 'string' },
  data: { type: 'string' },
  repo: { type: 'string' },
  branch: { type: 'string' },
  days: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof DEFINITIONS }>>['values'];
type NumberName = Exclude<keyof typeof DEFINITIONS, 'help' | 'json' | 'no-baselines' | 'set' | 'compare'>;

/** The options that apply to each source. Others are refused instead of ignored. */
const ONLY_WITH: Readonly<Record<Source['kind'], readonly NumberName[]>> = {
  generated: [
    ...(['prs', 'hours', 'per-hour', 'shape', 'ci-median', 'ci-p95', 'failure-rate'] as const),
    ...(['break-rate', 'conflict-rate', 'targets', 'targets-per-pr'] as const),
  ],
  outcomes: ['outcomes', 'project', 'limit', 'per-hour', 'shape'],
  history: ['data', 'repo', 'branch', 'days'],
};

export function parseOptions(args: readonly string[]): Options | 'help' {
  const values = parseValues(args);
  if (values.help === true) return 'help';
  const kind = kindOf(values);
  refuseOthers(values, kind);
  return {
    source: sourceOf(values, kind),
    seed: values.seed ?? '1',
    flakeRate: rate(values, 'flake-rate', kind === 'generated' ? 0.01 : 0),
    gitMs: number(values, 'git-seconds', 0, { min: 0 }) * 1000,
    variants: variantsOf(values),
    window: {
      start: integer(values, 'window', 20, 1),
      floor: integer(values, 'window-floor', 3, 1),
    },
    hasBaselines: values['no-baselines'] !== true,
    isJson: values.json === true,
  };
}

function parseValues(args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options: DEFINITIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function kindOf(values: Values): Source['kind'] {
  if (values.outcomes !== undefined) return 'outcomes';
  return values.data !== undefined ? 'history' : 'generated';
}

function refuseOthers(values: Values, kind: Source['kind']): void {
  const known = Object.values(ONLY_WITH).flat();
  const stray = known.find((name) => values[name] !== undefined && !ONLY_WITH[kind].includes(name));
  if (stray === undefined) return;
  const where = { generated: 'a made-up workload', outcomes: '--outcomes', history: '--data' }[kind];
  throw new UsageError(`--${stray} means nothing with ${where}.`);
}

function sourceOf(values: Values, kind: Source['kind']): Source {
  switch (kind) {
    case 'generated':
      return { kind, recipe: recipeOf(values) };
    case 'outcomes':
      return {
        kind,
        file: values.outcomes ?? '',
        project: values.project,
        limit: integer(values, 'limit', Number.MAX_SAFE_INTEGER, 1),
        arrivals: arrivalsOf(values),
      };
    case 'history':
      return {
        kind,
        data: values.data ?? '',
        repo: values.repo,
        branch: values.branch ?? 'main',
        days: number(values, 'days', 7, { above: 0 }),
      };
  }
}

function recipeOf(values: Values): Recipe {
  const medianMinutes = number(values, 'ci-median', 10, { above: 0 });
  const p95Minutes = number(values, 'ci-p95', medianMinutes * 2, { above: 0 });
  if (p95Minutes < medianMinutes) throw new UsageError('--ci-p95 must not be less than --ci-median.');
  const isEndless = values.prs === undefined && values.hours === undefined;
  return {
    ...arrivalsOf(values),
    prs: values.prs === undefined && !isEndless ? undefined : integer(values, 'prs', 500, 1),
    hours: values.hours === undefined ? undefined : number(values, 'hours', 0, { above: 0 }),
    medianMinutes,
    p95Minutes,
    failureRate: rate(values, 'failure-rate', 0.05),
    breakRate: rate(values, 'break-rate', 0.01),
    conflictRate: rate(values, 'conflict-rate', 0.01),
    needRate: 0,
    targets: integer(values, 'targets', 0, 0),
    targetsPerPr: integer(values, 'targets-per-pr', 1, 1),
  };
}

function arrivalsOf(values: Values): Arrivals {
  const { shape = 'flat', seed = '1' } = values;
  if (!Object.hasOwn(SHAPES, shape)) throw new UsageError(`--shape is one of ${Object.keys(SHAPES).join(', ')}.`);
  return { seed, perHour: number(values, 'per-hour', 20, { above: 0 }), shape: shape as Arrivals['shape'] };
}

function variantsOf({ set = [], compare = [] }: Values): NamedSettings[] {
  const common = parseSettings(set.join());
  if (compare.length === 0) return [{ name: 'sluice', settings: common }];
  return compare.map((text) => ({ name: text, settings: { ...common, ...parseSettings(text) } }));
}

/** `concurrency=10,batch=true,batchingRules=[...]`: a comma separates only before the name of a setting. */
function parseSettings(text: string): Partial<QueueSettings> {
  const pairs = text.split(/,(?=\s*\w+=)/).filter((pair) => pair.trim() !== '');
  const settings = Object.fromEntries(pairs.map(parseSetting));
  const [problem] = checkSettings(settings);
  if (problem !== undefined) throw new UsageError(`The setting ${problem.name} ${problem.message}.`);
  return settings as Partial<QueueSettings>;
}

function parseSetting(pair: string): [string, unknown] {
  const at = pair.indexOf('=');
  if (at === -1) throw new UsageError(`"${pair.trim()}" is no setting: write it as name=value.`);
  const name = pair.slice(0, at).trim();
  const value = pair.slice(at + 1).trim();
  const isText =
    Object.hasOwn(SETTING_SPECS, name) && ['choice', 'text'].includes(SETTING_SPECS[name as SettingName].kind);
  if (isText) return [name, SETTING_SPECS[name as SettingName].kind === 'choice' ? value.toUpperCase() : value];
  try {
    return [name, JSON.parse(value)];
  } catch {
    throw new UsageError(`The value of ${name} cannot be read: ${value}.`);
  }
}

function number(
  values: Values,
  name: NumberName,
  otherwise: number,
  bounds: { readonly min?: number; readonly max?: number; readonly above?: number },
): number {
  const text = values[name];
  if (text === undefined) return otherwise;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const { min = Number.NEGATIVE_INFINITY, max = Number.MAX_VALUE, above = Number.NEGATIVE_INFINITY } = bounds;
  if (value >= min && value <= max && value > above) return value;
  const range = max === 1 ? 'a number from 0 to 1' : above === 0 ? 'a number above 0' : `a number from ${min} up`;
  throw new UsageError(`--${name} must be ${range}.`);
}

function rate(values: Values, name: NumberName, otherwise: number): number {
  return number(values, name, otherwise, { min: 0, max: 1 });
}

function integer(values: Values, name: NumberName, otherwise: number, min: number): number {
  const value = number(values, name, otherwise, { min });
  if (!Number.isSafeInteger(value)) throw new UsageError(`--${name} must be a whole number.`);
  return value;
}

export const HELP = `Plays a queue's policy through, without faults: which settings land how much, how fast, with how many CI runs?

  npm run simulate -- policy [options]

The real engine decides; git answers at once and CI after its time. The same pull requests also go through
  oracle    knows every outcome beforehand: no queue is faster
  serial    one at a time, tested on the head
  window    one line that always hopes for the best, as Zuul has it

Settings
  --set name=value        a setting of the queue, for every column; again for more
  --compare "a=1,b=2"     one column with these settings; again for more columns

A workload that is made up (the default)
  --prs 500, --hours 24   how many pull requests, or for how long they come
  --per-hour 20           how many come in an hour, at random
  --shape flat            or "day": busy from nine to six, quiet at night
  --ci-median 10          minutes a CI run takes; half of them take longer
  --ci-p95 20             and one in twenty longer than this; the same as the median makes all runs equal
  --failure-rate 0.05     pull requests that are broken
  --break-rate 0.01       pull requests that break only together with an earlier one
  --conflict-rate 0.01    pull requests that cannot be merged together with an earlier one
  --targets 0             how many targets there are (for mode=PARALLEL); 0: everything impacts everything
  --targets-per-pr 1      how many of them a pull request impacts

Outcomes of real builds, in their order
  --outcomes file.csv[.gz]   lines of project,median_build_seconds,outcomes (a text of 0 passed, 1 failed)
  --project name             one project; otherwise all, one after the other
  --limit n                  the first n builds of each
  --per-hour, --shape        as above: when builds came is not in the file

What a queue of yours went through
  --data folder           the data folder of a server that is stopped, or a file that "sluice backup" wrote
  --repo host/owner/name  may be left out where there is only one
  --branch main
  --days 7                how far back, from the last thing that happened

All
  --flake-rate 0.01       runs that fail for no reason; 0 unless said with --outcomes and --data
  --git-seconds 0         how long building a commit takes, and landing it
  --window 20             how far the window looks at first; --window-floor 3 at least
  --no-baselines          only the columns of Sluice
  --seed 1                the same seed and options give the same numbers
  --json                  for programs
  --help

Examples
  npm run simulate -- policy
  npm run simulate -- policy --per-hour 40 --set concurrency=20
  npm run simulate -- policy --per-hour 60 --compare "concurrency=10" --compare "concurrency=10,batch=true,batchingMinSize=8"
  npm run simulate -- policy --targets 12 --targets-per-pr 2 --compare "mode=SINGLE" --compare "mode=PARALLEL"
  npm run simulate -- policy --hours 48 --shape day --ci-median 25 --ci-p95 60 --json
  npm run simulate -- policy --outcomes outcomes.csv.gz --project rails --per-hour 6
  npm run simulate -- policy --data ./data --days 7 --compare "concurrency=10,batch=true,batchingMinSize=8"
`;
