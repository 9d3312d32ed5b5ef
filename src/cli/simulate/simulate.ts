import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DEFAULT_SETTINGS, type QueueSettings, SETTING_NAMES } from '../../engine/settings.ts';
import { runOptimisticWindow, runOracle, runSerial } from '../../policy/baselines.ts';
import { generate } from '../../policy/generate.ts';
import { measure, type Played } from '../../policy/measure.ts';
import { changesOf, type ProjectOutcomes, parseOutcomes } from '../../policy/outcomes.ts';
import type { Outcome } from '../../policy/referee.ts';
import type { Column, Report } from '../../policy/report.ts';
import { runSluice } from '../../policy/sluice.ts';
import type { Chance, Change, Workload } from '../../policy/workload.ts';
import { type Options, type Source, UsageError } from './options.ts';
import { readHistory } from './stored-history.ts';

/** The data of a source, before random effects are added. */
interface Material {
  readonly source: string;
  readonly notes: readonly string[];
  /** The changes of each queue. */
  readonly queues: readonly (readonly Change[])[];
  /** The base settings of the Sluice columns. */
  readonly settings: QueueSettings;
  readonly asItWas: Outcome | undefined;
}

type Policy = (workload: Workload, onDecided: () => void) => Outcome;

export async function simulate(options: Options, progress: Progress): Promise<Report> {
  const { seed, flakeRate, gitMs } = options;
  const material = await gather(options.source);
  const chance: Chance = { seed, flakeRate, gitMs };
  const workloads = material.queues.map((changes) => ({ source: material.source, changes, chance }));
  const play = (name: string, policy: Policy) =>
    measure(
      workloads.map((workload): Played => {
        progress.begin(name, workload.changes.length);
        return { workload, outcome: policy(workload, progress.tick) };
      }),
    );
  const changes = material.queues.flat();
  if (changes.length === 0) throw new UsageError('There are no pull requests to play with.');
  return {
    workload: {
      source: material.source,
      seed,
      pullRequests: changes.length,
      broken: changes.filter(({ isBroken }) => isBroken).length,
      flakeRate,
      notes: material.notes,
    },
    columns: [
      ...historyColumn(material, workloads),
      ...sluiceColumns(options, material.settings, play),
      ...(options.hasBaselines ? baselineColumns(options, play) : []),
    ],
  };
}

type Play = (name: string, policy: Policy) => Column['measures'];

function historyColumn({ asItWas }: Material, [workload]: readonly Workload[]): Column[] {
  if (asItWas === undefined || workload === undefined) return [];
  return [{ name: 'as it was', kind: 'history', measures: measure([{ workload, outcome: asItWas }]) }];
}

function sluiceColumns({ variants }: Options, base: QueueSettings, play: Play): Column[] {
  return variants.map(({ name, settings: changed }): Column => {
    const settings = { ...base, ...changed };
    const measures = play(name, (workload, onDecided) => runSluice(workload, settings, onDecided));
    return { name, kind: 'sluice', settings: unusual(settings), measures };
  });
}

function unusual(settings: QueueSettings): Partial<QueueSettings> {
  const isUnusual = (name: keyof QueueSettings) =>
    JSON.stringify(settings[name]) !== JSON.stringify(DEFAULT_SETTINGS[name]);
  return Object.fromEntries(SETTING_NAMES.filter(isUnusual).map((name) => [name, settings[name]]));
}

function baselineColumns({ window }: Options, play: Play): Column[] {
  return [
    { name: 'oracle', kind: 'oracle', measures: play('oracle', runOracle) },
    { name: 'serial', kind: 'serial', measures: play('serial', runSerial) },
    {
      name: 'window',
      kind: 'window',
      measures: play('window', (workload, onDecided) => runOptimisticWindow(workload, window, onDecided)),
    },
  ];
}

async function gather(source: Source): Promise<Material> {
  const plain = { notes: [], settings: DEFAULT_SETTINGS, asItWas: undefined };
  switch (source.kind) {
    case 'generated':
      return { ...plain, source: 'made up', queues: [generate(source.recipe)] };
    case 'outcomes':
      return { ...plain, ...(await gatherOutcomes(source)) };
    case 'history': {
      const { changes, ...history } = await readHistory(source);
      return { ...history, queues: [changes] };
    }
  }
}

async function gatherOutcomes(
  source: Extract<Source, { kind: 'outcomes' }>,
): Promise<Pick<Material, 'source' | 'queues'>> {
  const projects = await readOutcomes(source.file);
  const chosen = projects.filter(({ project }) => source.project === undefined || source.project === project);
  if (chosen.length === 0) {
    const names = projects.map(({ project }) => project).join(', ');
    throw new UsageError(`The file has no project ${source.project}. It has: ${names}.`);
  }
  return {
    source: source.project ?? `${chosen.length} projects`,
    queues: chosen.map((each) =>
      changesOf({ ...each, outcomes: each.outcomes.slice(0, source.limit) }, source.arrivals),
    ),
  };
}

const EVERY_MS = 200;

/** Shows progress on a terminal, and nothing elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  #label = '';
  #total = 0;
  #done = 0;
  #shownAt = performance.now();

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  begin(label: string, total: number): void {
    this.#label = label;
    this.#total = total;
    this.#done = 0;
  }

  readonly tick = (): void => {
    this.#done += 1;
    if (!this.#stream.isTTY || performance.now() - this.#shownAt < EVERY_MS) return;
    this.#shownAt = performance.now();
    this.#stream.write(`\r\x1b[K${this.#label}: ${this.#done} of ${this.#total} pull requests decided`);
  };

  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K');
  }
}

/** A text file, plain or gzipped. */
export async function readOutcomes(file: string): Promise<readonly ProjectOutcomes[]> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message}).`);
  });
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const parsed = parseOutcomes((isGzip ? await promisify(gunzip)(bytes) : bytes).toString('utf8'));
  if ('problem' in parsed) throw new UsageError(`${file}: ${parsed.problem}.`);
  return parsed.projects;
}
