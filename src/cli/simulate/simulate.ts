import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DEFAULT_SETTINGS, type QueueSettings, SETTING_NAMES } from '../../engine/model/settings.ts';
import { Fault } from '../../lib/fault.ts';
import { runOptimisticWindow, runOracle, runSerial } from '../../policy/baselines.ts';
import { generate } from '../../policy/generate.ts';
import { entropyOf, type Measures, measure, type Played } from '../../policy/measure.ts';
import { bandOf, changesOf, type ProjectOutcomes, parseOutcomes } from '../../policy/outcomes.ts';
import type { Outcome } from '../../policy/referee.ts';
import { runSluice } from '../../policy/sluice.ts';
import type { Change, Workload } from '../../policy/workload.ts';
import { usageError } from '../core/exit.ts';
import { formatJson } from '../core/json-fields.ts';
import { proposal } from '../core/nearest.ts';
import { drawStatus, type StatusStream } from '../core/status-line.ts';
import { say, write } from '../core/terminal.ts';
import { type Given, type Options, readOptions, type Source } from './options.ts';
import {
  type Band,
  type Column,
  formatBands,
  formatHeading,
  formatReport,
  type Report,
  type TimesOracle,
} from './report.ts';
import { readHistory } from './stored-history.ts';

export async function runSimulate(given: Given): Promise<void> {
  const report = await simulate(readOptions(given), createProgressBar(process.stderr));
  if (given.json === true) return write(formatJson(report, given.jsonFields));
  tell(`${formatHeading(report)}\n`);
  write(formatReport(report));
  if (report.bands.length === 0) return;
  tell('\nCI runs per PR, by the failure rate of the project:');
  write(formatBands(report));
}

/** Above a table on a terminal. Elsewhere beside its rows, which other programs read. */
function tell(text: string): void {
  if (process.stdout.isTTY) write(`${text}\n`);
  else say(text);
}

/** The data of a source, before random effects are added. */
interface Material {
  readonly source: string;
  readonly notes: readonly string[];
  readonly queues: readonly QueueMaterial[];
  readonly settings: QueueSettings;
  readonly asItWas: Outcome | undefined;
}

interface QueueMaterial {
  readonly changes: readonly Change[];
  /** Of failure rates. */
  readonly band?: string;
}

interface Contestant extends Pick<Column, 'name' | 'kind' | 'settings'> {
  readonly run: (workload: Workload, onDecided: () => void) => Outcome;
}

export async function simulate(options: Options, progress: ProgressBar): Promise<Report> {
  const { seed, flakeRate, gitMs, tests } = options;
  const material = await gather(options.source);
  const { source, notes } = material;
  const changes = material.queues.flatMap((queue) => queue.changes);
  if (changes.length === 0) throw usageError('There are no pull requests to play with.');
  const chance = { seed, flakeRate, gitMs, ...tests };
  const workloads = material.queues.map((queue): Workload => ({ source, changes: queue.changes, chance }));
  const results = playAll(contestantsOf(options, material), workloads, progress);
  const oracle = workloads.map((workload): Played => ({ workload, outcome: runOracle(workload) }));
  const indexes = workloads.map((_, index) => index);
  const broken = changes.filter(({ isBroken }) => isBroken).length;
  const leastRunsPerDecided = leastRuns(oracle);
  return {
    workload: { source, seed, pullRequests: changes.length, broken, flakeRate, leastRunsPerDecided, notes },
    columns: columnsOf(results, oracle, indexes),
    bands: bandsOf(material.queues, results, oracle),
  };
}

interface Result extends Omit<Contestant, 'run'> {
  readonly played: readonly Played[];
}

function playAll(
  contestants: readonly Contestant[],
  workloads: readonly Workload[],
  progress: ProgressBar,
): readonly Result[] {
  const pullRequests = workloads.reduce((sum, workload) => sum + workload.changes.length, 0);
  const results = contestants.map(({ run, ...contestant }, index) => {
    progress.begin(contestant.name, index * pullRequests, contestants.length * pullRequests);
    return {
      ...contestant,
      played: workloads.map((workload) => ({ workload, outcome: run(workload, progress.tick) })),
    };
  });
  progress.end();
  return results;
}

function contestantsOf(options: Options, { settings: base, asItWas }: Material): Contestant[] {
  const history = asItWas === undefined ? [] : [{ name: 'as it was', kind: 'history' as const, run: () => asItWas }];
  const own = options.variants.map(({ name, settings: changed }): Contestant => {
    const settings = { ...base, ...changed };
    const run = (workload: Workload, onDecided: () => void) => runSluice(workload, settings, { onDecided });
    return { name, kind: 'sluice', settings: unusual(settings), run };
  });
  return [...history, ...own, ...(options.hasBaselines ? baselinesOf(options) : [])];
}

function unusual(settings: QueueSettings): Partial<QueueSettings> {
  const isUnusual = (name: keyof QueueSettings) =>
    JSON.stringify(settings[name]) !== JSON.stringify(DEFAULT_SETTINGS[name]);
  return Object.fromEntries(SETTING_NAMES.filter(isUnusual).map((name) => [name, settings[name]]));
}

function baselinesOf({ window }: Options): Contestant[] {
  return [
    { name: 'oracle', kind: 'oracle', run: runOracle },
    { name: 'serial', kind: 'serial', run: runSerial },
    { name: 'window', kind: 'window', run: (workload, onDecided) => runOptimisticWindow(workload, window, onDecided) },
  ];
}

function columnsOf(results: readonly Result[], oracle: readonly Played[], indexes: readonly number[]): Column[] {
  const among = (all: readonly Played[]) => measure(indexes.map((index) => all[index] as Played));
  const best = among(oracle);
  return results.map(({ played, ...result }) => {
    const measures = among(played);
    return { ...result, measures, timesOracle: timesOracleOf(measures, best) };
  });
}

function timesOracleOf({ timeToLandMinutes: own }: Measures, { timeToLandMinutes: best }: Measures): TimesOracle {
  const ratio = (a: number | null, b: number | null) => (a === null || !b ? null : Math.round((a / b) * 100) / 100);
  return { p50: ratio(own.p50, best.p50), p95: ratio(own.p95, best.p95), p99: ratio(own.p99, best.p99) };
}

/** The oracle removes exactly the pull requests that cannot land. Each queue has its own rate. */
function leastRuns(oracle: readonly Played[]): number {
  const { bits, decided } = oracle.reduce(
    (sum, { workload, outcome }) => {
      const count = workload.changes.length;
      return { bits: sum.bits + count * entropyOf(outcome.removedAt.size / count), decided: sum.decided + count };
    },
    { bits: 0, decided: 0 },
  );
  return Math.round((bits / decided) * 10_000) / 10_000;
}

function bandsOf(queues: readonly QueueMaterial[], results: readonly Result[], oracle: readonly Played[]): Band[] {
  if (queues.length < 2) return [];
  const bands = Map.groupBy(queues.keys(), (index) => queues[index]?.band ?? '');
  return [...bands]
    .toSorted(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map(([failureRate, indexes]) => ({
      failureRate,
      projects: indexes.length,
      pullRequests: indexes.reduce((sum, index) => sum + (queues[index]?.changes.length ?? 0), 0),
      leastRunsPerDecided: leastRuns(indexes.map((index) => oracle[index] as Played)),
      columns: columnsOf(results, oracle, indexes).map(({ name, measures, timesOracle }) => ({
        name,
        measures,
        timesOracle,
      })),
    }));
}

async function gather(source: Source): Promise<Material> {
  const plain = { notes: [], settings: DEFAULT_SETTINGS, asItWas: undefined };
  switch (source.kind) {
    case 'generated':
      return { ...plain, source: 'made up', queues: [{ changes: generate(source.recipe) }] };
    case 'outcomes':
      return { ...plain, ...(await gatherOutcomes(source)) };
    case 'history': {
      const { changes, ...history } = await readHistory(source).catch(refuseFault);
      return { ...history, queues: [{ changes }] };
    }
  }
}

/** A store that cannot be opened is the user's to mend. */
function refuseFault(error: unknown): never {
  throw error instanceof Fault ? usageError(error.detail) : error;
}

async function gatherOutcomes(
  source: Extract<Source, { kind: 'outcomes' }>,
): Promise<Pick<Material, 'source' | 'queues'>> {
  const projects = await readOutcomes(source.file);
  const chosen = projects.filter(({ project }) => source.project === undefined || source.project === project);
  if (chosen.length === 0) {
    const names = projects.map(({ project }) => project);
    const hint = proposal(source.project ?? '', names) || ` It has: ${names.slice(0, 20).join(', ')}.`;
    throw usageError(`${source.file} has no project ${source.project}.${hint}`);
  }
  const cut = (each: ProjectOutcomes) => ({ ...each, outcomes: each.outcomes.slice(0, source.limit) });
  return {
    source: source.project ?? `${chosen.length} projects`,
    queues: chosen.map((each) => ({ changes: changesOf(cut(each), source.arrivals), band: bandOf(each) })),
  };
}

/** Real files unpack to less than a megabyte. */
const MAX_UNPACKED = 256 * 2 ** 20;

export async function readOutcomes(file: string): Promise<readonly ProjectOutcomes[]> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${file} cannot be read (${error.code ?? error.message}).`);
  });
  const parsed = parseOutcomes((await unpack(file, bytes)).toString('utf8'));
  if ('problem' in parsed) throw usageError(`${file} is no file of outcomes: ${parsed.problem}.`);
  return parsed.projects;
}

async function unpack(file: string, bytes: Buffer): Promise<Buffer> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isGzip && file.endsWith('.gz')) throw usageError(`${file} is not gzipped, although its name ends in .gz.`);
  if (!isGzip) return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: MAX_UNPACKED }).catch((error: NodeJS.ErrnoException) => {
    throw usageError(
      `${file} cannot be unpacked: ${error.code === 'ERR_BUFFER_TOO_LARGE' ? 'it is too large' : 'it is damaged'}.`,
    );
  });
}

const EVERY_MS = 200;
const BAR = 20;

export type ProgressBar = ReturnType<typeof createProgressBar>;

// SPEC W45
export function createProgressBar(stream: StatusStream, now = () => performance.now()) {
  let column = { label: '', done: 0, total: 0 };
  let shownAt = now();
  return {
    /** A column begins after `done` of `total` pull requests. Not every column tells of each of them. */
    begin(label: string, done: number, total: number): void {
      column = { label, done, total };
    },
    tick(): void {
      column.done += 1;
      if (now() - shownAt < EVERY_MS) return;
      shownAt = now();
      const share = Math.min(1, column.done / column.total);
      const filled = Math.round(share * BAR);
      const bar = `${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}`;
      drawStatus(stream, `[${bar}] ${Math.floor(share * 100)} %  ${column.label}`);
    },
    end: () => drawStatus(stream),
  };
}
