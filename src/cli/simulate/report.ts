import type { QueueSettings } from '../../engine/model/settings.ts';
import type { Measures } from '../../policy/measure.ts';
import { formatRows } from '../core/table.ts';
import { terminalWidth } from '../core/terminal.ts';
import { wrapWords } from '../core/text-width.ts';

export type TimesOracle = Readonly<Record<keyof Measures['timeToLandMinutes'], number | null>>;

export interface Column {
  readonly name: string;
  readonly kind: 'history' | 'sluice' | 'oracle' | 'serial' | 'window';
  /** The settings that differ from the defaults. */
  readonly settings?: Partial<QueueSettings>;
  readonly measures: Measures;
  readonly timesOracle: TimesOracle;
}

/** Projects with a similar failure rate. */
export interface Band {
  readonly failureRate: string;
  readonly projects: number;
  readonly pullRequests: number;
  readonly leastRunsPerDecided: number;
  readonly columns: readonly Pick<Column, 'name' | 'measures' | 'timesOracle'>[];
}

export interface Report {
  readonly workload: {
    readonly source: string;
    readonly seed: string;
    readonly pullRequests: number;
    readonly broken: number;
    readonly flakeRate: number;
    /** The entropy of the failures. */
    readonly leastRunsPerDecided: number;
    /** Shown above the table. */
    readonly notes: readonly string[];
  };
  readonly columns: readonly Column[];
  /** Empty if there is only one project. */
  readonly bands: readonly Band[];
}

/** Five columns of this width fit into a terminal of 80 characters. */
const NAME_LIMIT = 10;

type Row = readonly [label: string, show: (column: Column, report: Report) => string];

const ROWS: readonly Row[] = [
  ['CI runs per PR', ({ measures }) => measures.runsPerDecided.toFixed(3)],
  ['runs ÷ H(p)', showRunsByEntropy],
  ['time to land p50', ({ measures }) => showMinutes(measures.timeToLandMinutes.p50)],
  ['time to land p95', ({ measures }) => showMinutes(measures.timeToLandMinutes.p95)],
  ['time to land p99', ({ measures }) => showMinutes(measures.timeToLandMinutes.p99)],
  ['p50 ÷ oracle', ({ timesOracle }) => showRatio(timesOracle.p50)],
  ['p95 ÷ oracle', ({ timesOracle }) => showRatio(timesOracle.p95)],
  ['p99 ÷ oracle', ({ timesOracle }) => showRatio(timesOracle.p99)],
  ['merged per hour', ({ measures }) => measures.mergedPerHour.toFixed(1)],
  ['CI hours', ({ measures }) => measures.ciHours.toFixed(1)],
  ['restarts', ({ measures }) => String(measures.restarts)],
  ['merged', ({ measures }) => String(measures.merged)],
  ['removed', ({ measures }) => String(measures.removed)],
  ['wrongly removed', ({ measures }) => String(measures.wronglyRemoved)],
  ['broken landed', ({ measures }) => String(measures.brokenLanded)],
  ['makespan', ({ measures }) => `${measures.makespanHours.toFixed(1)} h`],
];
/** Shown only if not zero. */
const RARE_ROWS: readonly Row[] = [
  ['probes', ({ measures }) => String(measures.probes)],
  ['undecided', ({ measures }) => String(measures.undecided)],
  ['false red alarms', ({ measures }) => String(measures.holds)],
];

/** Facts above the table: the workload, and the settings of lettered columns. */
export function formatHeading({ workload, columns }: Report): string {
  const { source, seed, pullRequests, broken, flakeRate, leastRunsPerDecided, notes } = workload;
  const flakes = flakeRate === 0 ? 'no flakes' : `${(flakeRate * 100).toFixed(1)} % of runs flake`;
  const lines = [
    `${source}: ${pullRequests} pull requests, ${broken} of them broken, ${flakes}, seed ${seed}`,
    `H(p) = ${leastRunsPerDecided.toFixed(3)} CI runs per pull request: the least possible if failures come at random`,
    ...notes,
    ...columns.flatMap((column, index) =>
      titles(columns)[index] === column.name ? [] : [`${titles(columns)[index]}: ${column.name}`],
    ),
  ];
  const width = terminalWidth();
  return lines.flatMap((line) => (width === undefined ? [line] : wrapWords(line.split(' '), width))).join('\n');
}

/** A table on a terminal. In pipes, lines of cells between tabs, of which the first has the names of the columns. */
export function formatReport(report: Report): string {
  const { columns } = report;
  const isShown = ([, show]: Row) => columns.some((column) => show(column, report) !== '0');
  const rows = [...ROWS, ...RARE_ROWS.filter(isShown)];
  const cells = rows.map(([label, show]) => [label, ...columns.map((column) => show(column, report))]);
  return formatCells(['', ...titles(columns)], cells, ['columns', ...columns.map(({ name }) => name)]);
}

// SPEC W46
export function formatBands({ bands, columns }: Report): string {
  const own = columns.flatMap(({ kind }, index) => (kind === 'oracle' ? [] : [index]));
  const head = ['failures', 'projects', 'PRs', 'H(p)', ...own.map((index) => titles(columns)[index] ?? '')];
  const cells = bands.map((band) => [
    band.failureRate,
    String(band.projects),
    String(band.pullRequests),
    band.leastRunsPerDecided.toFixed(3),
    ...own.map((index) => band.columns[index]?.measures.runsPerDecided.toFixed(3) ?? ''),
  ]);
  return formatCells(head, cells);
}

function formatCells(head: readonly string[], rows: readonly string[][], inPipes?: string[]): string {
  const columns = head.map((title, index) => ({
    title,
    keeps: true as const,
    ...(index === 0 ? {} : { align: 'right' as const }),
    cell: (row: readonly string[]) => row[index] ?? '',
  }));
  return formatRows(terminalWidth() === undefined && inPipes !== undefined ? [inPipes, ...rows] : rows, columns);
}

/** If names are too long for the table, the columns of Sluice get letters. */
function titles(columns: readonly Column[]): readonly string[] {
  if (columns.every(({ name }) => name.length <= NAME_LIMIT)) return columns.map(({ name }) => name);
  const own = columns.filter(({ kind }) => kind === 'sluice');
  return columns.map((column) => (own.includes(column) ? String.fromCharCode(65 + own.indexOf(column)) : column.name));
}

/** The oracle knows what fails, so the entropy does not bind it. */
function showRunsByEntropy({ kind, measures }: Column, { workload }: Report): string {
  const least = workload.leastRunsPerDecided;
  return kind === 'oracle' || least === 0 ? '-' : (measures.runsPerDecided / least).toFixed(2);
}

function showRatio(ratio: number | null): string {
  return ratio === null ? '-' : ratio.toFixed(2);
}

function showMinutes(minutes: number | null): string {
  if (minutes === null) return '-';
  return minutes < 120 ? `${minutes.toFixed(1)} min` : `${(minutes / 60).toFixed(1)} h`;
}
