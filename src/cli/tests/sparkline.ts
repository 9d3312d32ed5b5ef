import { paint } from '../core/terminal.ts';

/** The runs of a test on one day, without skipped ones. */
export interface DayCount {
  readonly passes: number;
  readonly failures: number;
}

export interface SparklineOptions {
  /** The first instant of the last column's day. */
  readonly lastDayAt: number;
  /** False if the terminal shows only ASCII. */
  readonly isUnicode: boolean;
}

const DAY_MS = 86_400_000;
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;

/**
 * Two rows with one column a day, the oldest first: the number of runs relative to the busiest day, and the share that
 * failed. A day without runs or failures is a dot; one failure in a thousand runs is still a bar.
 */
// SPEC W7
export function formatSparkline(days: readonly DayCount[], { lastDayAt, isUnicode }: SparklineOptions): string {
  const most = Math.max(1, ...days.map(({ passes, failures }) => passes + failures));
  const steps = isUnicode ? BARS : DIGITS;
  const draw = (share: number): string => {
    if (share <= 0) return isUnicode ? '·' : '.';
    return steps[Math.min(steps.length - 1, Math.max(0, Math.ceil(share * steps.length) - 1))] as string;
  };
  const runs = days.map(({ passes, failures }) => draw((passes + failures) / most));
  const failed = days.map(({ passes, failures }) => draw(failures === 0 ? 0 : failures / (passes + failures)));
  const first = formatDay(lastDayAt - (days.length - 1) * DAY_MS);
  const last = formatDay(lastDayAt);
  const gap = ' '.repeat(Math.max(1, days.length - first.length - last.length));
  return [
    `  runs    ${paintColumns(runs, () => 'green')}`,
    `  failed  ${paintColumns(failed, () => 'red')}`,
    `          ${paint('gray', `${first}${gap}${last}`)}`,
    '',
  ].join('\n');
}

/**
 * One row with one column a day: a dot without runs, the lowest bar if all runs passed, and higher the more of them failed.
 */
export function formatDays(runs: readonly number[], failures: readonly number[]): string {
  const [low, ...others] = BARS;
  return runs
    .map((count, day) => {
      if (count === 0) return '·';
      const share = (failures[day] ?? 0) / count;
      return share === 0 ? low : (others[Math.min(others.length, Math.ceil(share * others.length)) - 1] as string);
    })
    .join('');
}

/** Empty days are gray. */
function paintColumns(columns: readonly string[], style: () => 'green' | 'red'): string {
  return columns.map((column) => paint(/[·.]/.test(column) ? 'gray' : style(), column)).join('');
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(5, 10);
}

/** Counts runs per day (UTC), the oldest first; other days are left out. */
export function countDays(
  runs: Iterable<{ readonly conclusion: string; readonly started_at: string }>,
  { days, lastDayAt }: { readonly days: number; readonly lastDayAt: number },
): DayCount[] {
  const counts = Array.from({ length: days }, () => ({ passes: 0, failures: 0 }));
  for (const { conclusion, started_at } of runs) {
    const ago = Math.floor((lastDayAt + DAY_MS - 1 - Date.parse(started_at)) / DAY_MS);
    const day = counts[days - 1 - ago];
    if (day === undefined) continue;
    if (conclusion === 'SUCCESS') day.passes += 1;
    if (conclusion === 'FAILURE') day.failures += 1;
  }
  return counts;
}

/** The start of the day, in UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

/** The locale decides. Without one, UTF-8 is the usual encoding of terminals. */
export function isUnicodeTerminal(environment: Readonly<Record<string, string | undefined>>): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'];
  if (environment['TERM'] === 'linux' || environment['TERM'] === 'dumb') return false;
  return locale === undefined || locale === '' || /utf-?8/i.test(locale);
}
