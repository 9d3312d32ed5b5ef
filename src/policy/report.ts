import type { QueueSettings } from '../engine/settings.ts';
import type { Measures } from './measure.ts';

export interface Column {
  readonly name: string;
  readonly kind: 'history' | 'sluice' | 'oracle' | 'serial' | 'window';
  /** The settings that differ from the defaults. */
  readonly settings?: Partial<QueueSettings>;
  readonly measures: Measures;
}

/** The result of a simulation. */
export interface Report {
  readonly workload: {
    readonly source: string;
    readonly seed: string;
    readonly pullRequests: number;
    readonly broken: number;
    readonly flakeRate: number;
    /** Shown above the table. */
    readonly notes: readonly string[];
  };
  readonly columns: readonly Column[];
}

/** Six columns of this width fit into a terminal of 100 characters. */
const NAME_LIMIT = 14;

type Row = readonly [label: string, show: (measures: Measures) => string];

const ROWS: readonly Row[] = [
  ['merged per hour', ({ mergedPerHour }) => mergedPerHour.toFixed(1)],
  ['time to land p50', ({ timeToLandMinutes }) => showMinutes(timeToLandMinutes.p50)],
  ['time to land p95', ({ timeToLandMinutes }) => showMinutes(timeToLandMinutes.p95)],
  ['time to land p99', ({ timeToLandMinutes }) => showMinutes(timeToLandMinutes.p99)],
  ['CI runs per PR', ({ runsPerDecided }) => runsPerDecided.toFixed(2)],
  ['CI hours', ({ ciHours }) => ciHours.toFixed(1)],
  ['restarts', ({ restarts }) => String(restarts)],
  ['merged', ({ merged }) => String(merged)],
  ['removed', ({ removed }) => String(removed)],
  ['wrongly removed', ({ wronglyRemoved }) => String(wronglyRemoved)],
  ['broken landed', ({ brokenLanded }) => String(brokenLanded)],
  ['makespan', ({ makespanHours }) => `${makespanHours.toFixed(1)} h`],
];
/** Shown only if not zero. */
const RARE_ROWS: readonly Row[] = [
  ['undecided', ({ undecided }) => String(undecided)],
  ['false red alarms', ({ holds }) => String(holds)],
];

export function showTable({ workload, columns }: Report): string {
  const { source, seed, pullRequests, broken, flakeRate, notes } = workload;
  const flakes = flakeRate === 0 ? 'no flakes' : `${(flakeRate * 100).toFixed(1)} % of runs flake`;
  const title = `${source}: ${pullRequests} pull requests, ${broken} of them broken, ${flakes}, seed ${seed}`;
  const isThere = ([, show]: Row) => columns.some(({ measures }) => show(measures) !== '0');
  const rows = [...ROWS, ...RARE_ROWS.filter(isThere)];
  const { names, legend } = shorten(columns);
  const cells = [
    ['', ...names],
    ...rows.map(([label, show]) => [label, ...columns.map(({ measures }) => show(measures))]),
  ];
  const widths = cells[0]?.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0))) ?? [];
  const lines = cells.map((row) =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  '),
  );
  return `${[title, ...notes, ...legend, '', ...lines].join('\n')}\n`;
}

/** If names are too long for the table, columns get letters and a legend. */
function shorten(columns: readonly Column[]): {
  readonly names: readonly string[];
  readonly legend: readonly string[];
} {
  const longest = Math.max(...columns.map(({ name }) => name.length));
  if (longest <= NAME_LIMIT) return { names: columns.map(({ name }) => name), legend: [] };
  const own = columns.filter(({ kind }) => kind === 'sluice');
  const letterOf = (column: Column) => String.fromCharCode(65 + own.indexOf(column));
  return {
    names: columns.map((column) => (own.includes(column) ? letterOf(column) : column.name)),
    legend: own.map((column) => `  ${letterOf(column)}  ${column.name}`),
  };
}

export function showJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

function showMinutes(minutes: number | null): string {
  if (minutes === null) return '-';
  return minutes < 120 ? `${minutes.toFixed(1)} min` : `${(minutes / 60).toFixed(1)} h`;
}
