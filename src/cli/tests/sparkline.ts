import { paint } from '../core/terminal.ts';

/** The runs of a test by day, without skipped ones. */
export interface Daily {
  /** Such as 2026-08-19. */
  readonly first_day: string;
  readonly runs: readonly number[];
  readonly failures: readonly number[];
}

const DAY_MS = 86_400_000;
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;

/** A day without runs or failures is a dot. */
// SPEC W7
export function formatSparkline({ first_day, runs, failures }: Daily, isUnicode: boolean): string {
  const most = Math.max(1, ...runs);
  const steps = isUnicode ? BARS : DIGITS;
  const draw = (share: number): string => {
    if (share <= 0) return isUnicode ? '·' : '.';
    return steps[Math.min(steps.length - 1, Math.max(0, Math.ceil(share * steps.length) - 1))] as string;
  };
  const ran = runs.map((count) => draw(count / most));
  const failed = runs.map((count, day) => draw((failures[day] ?? 0) / Math.max(1, count)));
  const last = new Date(Date.parse(first_day) + (runs.length - 1) * DAY_MS).toISOString().slice(5, 10);
  const gap = ' '.repeat(Math.max(1, runs.length - 10));
  return [
    `  runs    ${paintColumns(ran, 'green')}`,
    `  failed  ${paintColumns(failed, 'red')}`,
    `          ${paint('gray', `${first_day.slice(5)}${gap}${last}`)}`,
    '',
  ].join('\n');
}

/** One column a day: a dot without runs, the lowest bar if all passed, and higher the more of them failed. */
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
function paintColumns(columns: readonly string[], style: 'green' | 'red'): string {
  return columns.map((column) => paint(/[·.]/.test(column) ? 'gray' : style, column)).join('');
}

/** The locale decides. Without one, UTF-8 is the usual encoding of terminals. */
export function isUnicodeTerminal(environment: Readonly<Record<string, string | undefined>>): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'];
  if (environment['TERM'] === 'linux' || environment['TERM'] === 'dumb') return false;
  return locale === undefined || locale === '' || /utf-?8/i.test(locale);
}
