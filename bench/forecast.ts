import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Instant } from '../src/lib/clock.ts';
import { bandOf, changesOf, type ProjectOutcomes, parseOutcomes } from '../src/policy/outcomes.ts';
import type { Workload } from '../src/policy/workload.ts';
import { calibrate, type Observation } from './lib/calibration.ts';
import { printFigure, progress } from './lib/figure.ts';
import { adaptive, draw, type Settings } from './lib/policy-trial.ts';

const OPTIONS = {
  seeds: { type: 'string', default: '6' },
  from: { type: 'string', default: '1' },
  moments: { type: 'string', default: '12' },
  samples: { type: 'string', default: '40' },
  history: { type: 'string', default: '150' },
  only: { type: 'string', multiple: true },
  outcomes: { type: 'string' },
} as const;

const BATCHES = { batch: true, batchingMinSize: 4, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' };

/** Six slots for two arrivals in the time of a run, and for twenty. */
const MODES: Readonly<Record<string, Settings>> = {
  single: { concurrency: 6 },
  batches: { concurrency: 6, ...BATCHES },
  optimistic: { concurrency: 6, canOptimisticallyMerge: true, pendingFailureDepth: 2 },
  adaptive: { concurrency: 6, ...adaptive(4) },
  lanes: { concurrency: 6, mode: 'PARALLEL', ...adaptive(4) },
};

const WORLDS = [
  { load: 2, failureRate: 0.05, flakeRate: 0, p95Minutes: 15 },
  { load: 2, failureRate: 0.25, flakeRate: 0.03, p95Minutes: 30 },
  { load: 12, failureRate: 0.05, flakeRate: 0.03, p95Minutes: 15 },
  { load: 12, failureRate: 0.2, flakeRate: 0, p95Minutes: 25 },
] as const;

const GIT_MS = 5_000;
const PRS = 450;
const QUIET_LOAD = 2;
const SAME_MS = 1_500;

interface Asked {
  readonly seeds: readonly string[];
  readonly moments: number;
  readonly samples: number;
  /** How many pull requests came before, in a quiet time. */
  readonly history: number;
}

/**
 * How well forecasts come true, on simulated queues and on real outcomes (`--outcomes file.csv.gz`). `--only adaptive`
 * measures one mode, `--from 1001` takes other queues, `--history 0` young ones.
 */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const asked: Asked = {
    seeds: Array.from({ length: Number(values.seeds) }, (_, index) => `forecast-${Number(values.from) + index}`),
    moments: Number(values.moments),
    samples: Number(values.samples),
    history: Number(values.history),
  };
  const wanted = (values.only ?? Object.keys(MODES)).flatMap((names) => names.split(','));
  const all: Observation[] = [];
  for (const [mode, settings] of Object.entries(MODES).filter(([name]) => wanted.includes(name))) {
    for (const world of WORLDS) {
      const name = `forecast.${mode}.load${world.load}.failing${100 * world.failureRate}`;
      progress(name);
      const targets = mode === 'lanes' ? 12 : 0;
      const prs = PRS + asked.history;
      const drawn = asked.seeds.map((seed) => withGit(draw(seed, { prs, targets, ...world })));
      const workloads = drawn.map((workload) => withQuietPast(workload, asked.history, world.load / QUIET_LOAD));
      all.push(...tell(name, workloads, settings, asked));
    }
  }
  const outcomes = values.outcomes ?? process.env['SLUICE_BENCH_OUTCOMES'];
  if (outcomes !== undefined) for (const mode of wanted) all.push(...replayOutcomes(outcomes, mode, asked));
  tellTimes(
    'forecast.submitted_now',
    all.filter(({ isNext }) => isNext),
  );
  tellTenths(all);
}

function withGit(workload: Workload): Workload {
  return { ...workload, chance: { ...workload.chance, gitMs: GIT_MS } };
}

/** The first pull requests come so much slower: every queue has decided them when the load begins. */
function withQuietPast(workload: Workload, history: number, slower: number): Workload {
  const begins = workload.changes[history]?.submittedAt ?? 0;
  const changes = workload.changes.map((change) => {
    const { submittedAt } = change;
    return submittedAt < begins ? { ...change, submittedAt: begins - (begins - submittedAt) * slower } : change;
  });
  return { ...workload, changes };
}

/** One project of each band of failure rates, with durations around its median: the file has none. */
function replayOutcomes(file: string, mode: string, asked: Asked): Observation[] {
  const parsed = parseOutcomes(gunzipSync(readFileSync(file)).toString());
  if ('problem' in parsed) throw new Error(`${file}: ${parsed.problem}.`);
  const bands = Map.groupBy(parsed.projects, bandOf);
  return [...bands].flatMap(([band, projects]) => {
    const name = `forecast.${mode}.travis.${band}`;
    progress(name);
    const workloads = projects.slice(0, asked.seeds.length).map((project, index) => replay(project, `${index}`));
    return tell(name, workloads, MODES[mode] ?? {}, { ...asked, history: 0 });
  });
}

function replay(project: ProjectOutcomes, seed: string): Workload {
  const part = { ...project, outcomes: project.outcomes.slice(-PRS) };
  const perHour = (4 * 3600) / project.medianSeconds;
  const spread = draw(`${project.project}/${seed}`, { prs: PRS, load: 4, failureRate: 0, p95Minutes: 20 }).changes;
  const changes = changesOf(part, { seed, perHour, shape: 'flat' }).map((change, index) => ({
    ...change,
    durationMs: (change.durationMs * (spread[index]?.durationMs ?? 600_000)) / 600_000,
  }));
  return { source: project.project, changes, chance: { seed, flakeRate: 0, gitMs: GIT_MS } };
}

function tell(name: string, workloads: readonly Workload[], settings: Settings, asked: Asked): Observation[] {
  const { moments, samples, history } = asked;
  const made = workloads.flatMap((workload, index) =>
    calibrate(workload, { settings, seed: `${name}/${index}`, moments, samples, history }),
  );
  tellTimes(
    name,
    made.filter(({ isNext }) => !isNext),
  );
  return made;
}

function tellTimes(name: string, made: readonly Observation[]): void {
  const landed = made.filter((one) => one.landedAt !== undefined && one.landsAtP50 !== undefined);
  const tellBefore = (quantile: string, limit: 'landsAtP50' | 'landsAtP95', share: number, goal: string) => {
    const { percent, error } = shareOf(landed, (one) => creditOf(one, one[limit] ?? 0, share));
    const unit = `% (${goal}) ± ${error.toFixed(1)} of ${landed.length}`;
    printFigure({ name: `${name}.before_${quantile}`, value: percent, unit });
  };
  tellBefore('p50', 'landsAtP50', 0.5, '45 to 55');
  tellBefore('p95', 'landsAtP95', 0.95, '92 to 98');
}

/**
 * 1 if it landed before the told instant. A simulated run takes as long again, so many landings are at the told instant
 * to the second, and so are many samples: of these, as many count as before as make up the share that was told.
 */
function creditOf({ landedAt = 0, samples }: Observation, told: Instant, share: number): number {
  if (Math.abs(landedAt - told) >= SAME_MS) return landedAt < told ? 1 : 0;
  const before = samples.filter((at) => at <= told - SAME_MS).length;
  const same = samples.filter((at) => Math.abs(at - told) < SAME_MS).length;
  return Math.min(1, Math.max(0, (share * (samples.length + 1) - before) / (same + 1)));
}

/** With its standard error. Forecasts of one queue come true together, so queues are what is counted. */
function shareOf(all: readonly Observation[], hit: (one: Observation) => number): { percent: number; error: number } {
  const hitsOf = (those: readonly Observation[]) => those.reduce((sum, one) => sum + hit(one), 0);
  const share = hitsOf(all) / all.length;
  const queues = [...Map.groupBy(all, ({ queue }) => queue).values()];
  const squares = queues.reduce((sum, those) => sum + (hitsOf(those) - share * those.length) ** 2, 0);
  const correction = queues.length / Math.max(1, queues.length - 1);
  return { percent: 100 * share, error: (100 * Math.sqrt(squares * correction)) / all.length };
}

/** The reliability of `chanceToLand`: of entries with a chance in this tenth, how many landed. */
function tellTenths(all: readonly Observation[]): void {
  for (let tenth = 0; tenth < 10; tenth += 1) {
    const those = all.filter(({ chanceToLand }) => Math.min(9, Math.floor(chanceToLand * 10)) === tenth);
    if (those.length === 0) continue;
    const said = those.reduce((sum, { chanceToLand }) => sum + chanceToLand, 0) / those.length;
    const { percent, error } = shareOf(those, ({ landedAt }) => (landedAt === undefined ? 0 : 1));
    const unit = `% landed ± ${error.toFixed(1)} of ${those.length}`;
    const name = `forecast.chance.${10 * tenth}-${10 * tenth + 10}`;
    printFigure({ name, value: percent, unit, baseline: 100 * said });
  }
}
