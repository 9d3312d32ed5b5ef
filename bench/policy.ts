import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { type Learned, NOTHING_LEARNED } from '../src/engine/model/learned.ts';
import { entropyOf } from '../src/policy/measure.ts';
import { bandOf, changesOf, type ProjectOutcomes, parseOutcomes } from '../src/policy/outcomes.ts';
import type { Chance, Workload } from '../src/policy/workload.ts';
import { median, printFigure, progress, round } from './lib/figure.ts';
import {
  AT_ONCE,
  adaptive,
  ciOf,
  type Drawn,
  draw,
  percentWronglyRemoved,
  play,
  runsOf,
  type Settings,
  SURE,
  TODAY,
  type Trial,
  timesOracle,
} from './lib/policy-trial.ts';
import { runsOfStop4 } from './lib/stop4.ts';

/** The costs of the queue's policy in simulated time, with the limits of ADAPTIVE. */
const QUESTIONS: Readonly<Record<string, (bench: PolicyBench) => void>> = {
  iid: measureRandomFailures,
  travis: measureRealFailures,
  load20: measureLoad20,
  load100: measureLoad100,
  flakes: measureFlakes,
  needs: measureNeeds,
  lanes: measureLanes,
  questions: measureQuestions,
};

const OPTIONS = {
  seeds: { type: 'string', default: '5' },
  only: { type: 'string', multiple: true },
  prs: { type: 'string' },
  outcomes: { type: 'string' },
} as const;

/**
 * `--only iid` answers one question, `--seeds 1` and `--prs 1000` make it faster. The file of real outcomes is not part
 * of the project: `--outcomes file.csv.gz`, or SLUICE_BENCH_OUTCOMES.
 */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const asked = (values.only ?? []).flatMap((names) => names.split(','));
  const unknown = asked.find((name) => !Object.hasOwn(QUESTIONS, name));
  if (unknown !== undefined)
    throw new Error(`There is no policy ${unknown}; there are ${Object.keys(QUESTIONS).join(', ')}.`);
  const bench = new PolicyBench({
    seeds: Array.from({ length: positive('seeds', values.seeds) }, (_, index) => `${index + 1}`),
    prs: values.prs === undefined ? Number.MAX_SAFE_INTEGER : positive('prs', values.prs),
    outcomes: values.outcomes ?? process.env['SLUICE_BENCH_OUTCOMES'],
  });
  for (const name of asked.length > 0 ? asked : Object.keys(QUESTIONS)) QUESTIONS[name]?.(bench);
  bench.printTally();
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1 up.`);
  return number;
}

interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly of: (trial: Trial) => number;
  /** The limit of the value. */
  readonly limit?: number | undefined;
  /** The limit of its ratio to the baseline: the best of today's settings, or `baseline`. */
  readonly goal?: number | undefined;
  readonly baseline?: (trial: Trial) => number;
  /** The limits of a queue that learns how many confirmations it needs. */
  readonly asLearned?: { readonly limit?: number; readonly goal?: number };
}

interface Comparison {
  readonly name: string;
  readonly drawn: Drawn;
  /** Of every policy. */
  readonly common: Settings;
  readonly runCost: number;
  readonly today: readonly (keyof typeof TODAY)[];
  readonly measured: readonly Measured[];
}

const RUNS = { name: 'runs', unit: 'runs/PR', of: runsOf };
const p50 = { name: 'p50', unit: '× oracle', of: timesOracle('p50') };
const p95 = { name: 'p95', unit: '× oracle', of: timesOracle('p95') };
const p99 = { name: 'p99', unit: '× oracle', of: timesOracle('p99') };
const WRONGLY_REMOVED = { name: 'wrongly_removed', unit: '%', of: percentWronglyRemoved };

class PolicyBench {
  readonly #seeds: readonly string[];
  readonly #prs: number;
  readonly outcomes: string | undefined;
  #brokenLanded = 0;
  #innocentRemoved = 0;

  constructor(of: { readonly seeds: readonly string[]; readonly prs: number; readonly outcomes: string | undefined }) {
    this.#seeds = of.seeds;
    this.#prs = of.prs;
    this.outcomes = of.outcomes;
  }

  /** A figure of ADAPTIVE without confirmations, one with those that it learns to need, and one of each today's setting. */
  compare({ name, drawn, common, runCost, today, measured }: Comparison): void {
    progress(`policy ${name}`);
    const workloads = this.#seeds.map((seed) => draw(seed, { ...drawn, prs: Math.min(drawn.prs, this.#prs) }));
    const settings = { ...adaptive(runCost), ...common };
    const playWith = (learned: Learned) => workloads.map((workload) => this.playAdaptive(workload, settings, learned));
    // Flakes must be confirmed, so there is nothing to fix at 0.
    const sure = drawn.flakeRate === undefined ? playWith(SURE) : undefined;
    const learned = playWith(NOTHING_LEARNED);
    const others = today.map((key) => ({
      key,
      trials: workloads.map((workload) => play(workload, { ...TODAY[key], ...common })),
    }));
    for (const each of measured) {
      const theirs = others.map(({ key, trials }) => ({ key, value: median(trials.map(each.of)) }));
      const label = `policy.${name}.${each.name}`;
      const best = Math.min(...theirs.map(({ value }) => value));
      if (sure !== undefined) printMeasured(label, each, sure, best);
      printMeasured(
        `${label}.learned`,
        { ...each, limit: undefined, goal: undefined, ...each.asLearned },
        learned,
        best,
      );
      for (const { key, value } of theirs) printFigure({ name: `${label}.${key}`, value, unit: each.unit });
    }
  }

  playAdaptive(workload: Workload, settings: Settings, learned: Learned): Trial {
    const trial = play(workload, settings, learned);
    this.#brokenLanded += trial.brokenLanded;
    const isExplained = workload.chance.flakeRate > 0 || workload.changes.some(({ needs }) => needs !== undefined);
    if (!isExplained) this.#innocentRemoved += trial.wronglyRemoved;
    return trial;
  }

  /** The same workloads, of which CI can tell so much. */
  playQuestions(drawn: Drawn, chance: Partial<Chance>, settings: Settings): readonly Trial[] {
    return this.#seeds.map((seed) => {
      const workload = draw(seed, { ...drawn, prs: Math.min(drawn.prs, this.#prs) });
      return this.playAdaptive({ ...workload, chance: { ...workload.chance, ...chance } }, settings, NOTHING_LEARNED);
    });
  }

  shorten({ outcomes, ...project }: ProjectOutcomes): ProjectOutcomes {
    return { ...project, outcomes: outcomes.slice(0, this.#prs) };
  }

  printTally(): void {
    printFigure({ name: 'policy.broken_landed', value: this.#brokenLanded, unit: 'PRs', limit: 0 });
    printFigure({
      name: 'policy.innocent_removed_without_flakes',
      value: this.#innocentRemoved,
      unit: 'PRs',
      limit: 0,
    });
  }
}

function printMeasured(name: string, measured: Measured, trials: readonly Trial[], best: number): void {
  const { unit, of, limit, goal, baseline: baselineOf } = measured;
  const baseline = baselineOf === undefined ? best : median(trials.map(baselineOf));
  printFigure({ name, value: median(trials.map(of)), unit, baseline, goal, limit });
}

/** The share that cannot be known beforehand: drawn failures differ a little from their rate. */
const entropyOfFailures = ({ oracle }: Trial) => entropyOf(oracle.removed / oracle.pullRequests);
const ONE_SLOT = { concurrency: 1, bisectionConcurrency: 0 };

/** A culprit is confirmed once before a queue has seen that there are no flakes. */
function measureRandomFailures(bench: PolicyBench): void {
  for (const failureRate of [0.005, 0.01, 0.02, 0.05, 0.1, 0.2]) {
    const goal = failureRate < 0.01 ? 1.12 : 1.06;
    const asLearned = { goal: round(goal + failureRate / entropyOf(failureRate)) };
    bench.compare({
      name: `iid.${failureRate * 100}%`,
      drawn: { prs: 20_000, load: AT_ONCE, failureRate },
      common: ONE_SLOT,
      runCost: 16,
      today: ['batch4', 'batch8'],
      measured: [{ ...RUNS, baseline: entropyOfFailures, goal, asLearned }],
    });
  }
}

/** Below the best size of batches for each project in hindsight, which no queue can know. */
function measureRealFailures(bench: PolicyBench): void {
  const { outcomes: file } = bench;
  if (file === undefined) {
    progress('policy travis: left out, because no file is named by --outcomes or SLUICE_BENCH_OUTCOMES');
    return;
  }
  const bytes = readFileSync(file);
  const parsed = parseOutcomes((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'));
  if ('problem' in parsed) throw new Error(`${file}: ${parsed.problem}.`);
  const bands = Map.groupBy(parsed.projects, bandOf);
  for (const band of ['5-10%', '10-20%', '20-40%', '40-100%']) measureBand(bench, band, bands.get(band) ?? []);
}

function measureBand(bench: PolicyBench, band: string, all: readonly ProjectOutcomes[]): void {
  progress(`policy travis ${band}: ${all.length} projects`);
  const projects = all.map((project) => bench.shorten(project));
  const decided = projects.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
  const perDecision = (runs: (project: ProjectOutcomes) => number) =>
    projects.reduce((sum, project) => sum + runs(project), 0) / decided;
  const workloadOf = (project: ProjectOutcomes): Workload => ({
    source: project.project,
    changes: changesOf(project, { seed: '1', perHour: AT_ONCE, shape: 'flat' }),
    chance: { seed: '1', flakeRate: 0, gitMs: 0 },
  });
  const name = `policy.travis.${band}.runs`;
  const value = perDecision(
    (project) => bench.playAdaptive(workloadOf(project), { ...adaptive(16), ...ONE_SLOT }, SURE).runs,
  );
  const baseline = perDecision(({ outcomes }) => runsOfStop4(outcomes));
  printFigure({ name, value, unit: 'runs/PR', baseline, goal: 1 });
  const batch8 = perDecision((project) => play(workloadOf(project), { ...TODAY['batch8'], ...ONE_SLOT }).runs);
  printFigure({ name: `${name}.batch8`, value: batch8, unit: 'runs/PR' });
}

function measureLoad20(bench: PolicyBench): void {
  const common = { concurrency: 30 };
  const load = { common, runCost: 4, today: ['single', 'batch4', 'batch8'] };
  const drawn = { prs: 3_000, load: 20 };
  bench.compare({
    ...load,
    name: 'load20.5%',
    drawn: { ...drawn, failureRate: 0.05 },
    measured: [
      { ...RUNS, limit: 0.55 },
      { ...p50, goal: 1 },
      { ...p95, goal: 1 },
    ],
  });
  bench.compare({
    ...load,
    name: 'load20.20%',
    drawn: { ...drawn, failureRate: 0.2 },
    measured: [
      { ...RUNS, limit: 1.45 },
      { ...p50, goal: 0.25 },
      { ...p95, goal: 0.25 },
    ],
  });
}

/** Without single mode, which takes minutes for each seed. */
function measureLoad100(bench: PolicyBench): void {
  bench.compare({
    name: 'load100.5%',
    drawn: { prs: 3_000, load: 100, failureRate: 0.05 },
    common: { concurrency: 150 },
    runCost: 4,
    today: ['batch8'],
    measured: [
      { ...RUNS, limit: 0.65 },
      { ...p50, limit: 2.5 },
      { ...p95, limit: 4 },
    ],
  });
}

function measureFlakes(bench: PolicyBench): void {
  bench.compare({
    name: 'flakes.5%',
    drawn: { prs: 12_000, load: 20, failureRate: 0.05, flakeRate: 0.05 },
    common: { concurrency: 30 },
    runCost: 4,
    today: ['batch8'],
    measured: [{ ...WRONGLY_REMOVED, asLearned: { limit: 0.1 } }, RUNS],
  });
}

function measureNeeds(bench: PolicyBench): void {
  bench.compare({
    name: 'needs.10%',
    drawn: { prs: 3_000, load: 20, failureRate: 0.05, needRate: 0.1 },
    common: { concurrency: 30 },
    runCost: 4,
    today: ['single'],
    measured: [{ ...WRONGLY_REMOVED, limit: 0, asLearned: { limit: 0 } }, RUNS],
  });
}

/** 500 pull requests an hour. Of 50 targets each has one, so two overlap in 2 of 100 cases. CI times vary. */
function measureLanes(bench: PolicyBench): void {
  bench.compare({
    name: 'lanes.5%',
    drawn: { prs: 1_500, load: 500 / 6, failureRate: 0.05, targets: 50, medianMinutes: 30, p95Minutes: 60 },
    common: { mode: 'PARALLEL', concurrency: 500 },
    runCost: 2,
    today: ['optimistic'],
    measured: [
      { ...RUNS, limit: 2 },
      { ...p50, goal: 1 },
      { ...p95, goal: 1 },
      { ...p99, goal: 1 },
    ],
  });
}

/** CI time in full runs. A probe takes a tenth of a run; beside it, one of 30%, and suites of which 30% stop at the first failure. */
function measureQuestions(bench: PolicyBench): void {
  const rows = [
    { name: '5%', load: 5, concurrency: 10, failureRate: 0.05, runCost: 4, limit: 0.34 },
    { name: '20%', load: 5, concurrency: 10, failureRate: 0.2, runCost: 4, limit: 0.7 },
    { name: 'load20.5%', load: 20, concurrency: 30, failureRate: 0.05, runCost: 4, limit: 0.41 },
    { name: 'cost16.5%', load: 5, concurrency: 10, failureRate: 0.05, runCost: 16, limit: 0.25 },
  ] as const;
  const kinds: Readonly<Record<string, Partial<Chance>>> = {
    probes: { maskRate: 0, probeShare: 0.1 },
    'probes.30%': { maskRate: 0, probeShare: 0.3 },
    'masked.30%': { maskRate: 0.3, probeShare: 0.1 },
    whole: {},
  };
  for (const { name, limit, load, failureRate, concurrency, runCost } of rows) {
    progress(`policy questions ${name}`);
    for (const [kind, chance] of Object.entries(kinds)) {
      const trials = bench.playQuestions({ prs: 1_000, load, failureRate }, chance, {
        ...adaptive(runCost),
        concurrency,
      });
      const label = `policy.questions.${name}.${kind}`;
      const value = round(median(trials.map(ciOf)));
      printFigure({ name: `${label}.ci`, value, unit: 'runs/PR', limit: kind === 'probes' ? limit : undefined });
      printFigure({ name: `${label}.p95`, value: median(trials.map(p95.of)), unit: p95.unit });
    }
  }
}
