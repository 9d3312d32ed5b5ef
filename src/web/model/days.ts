/** The runs of a test by day, the oldest first. */
export interface Days {
  readonly first_day: string;
  readonly runs: readonly number[];
  readonly failures: readonly number[];
}

export interface Bar {
  readonly x: number;
  readonly width: number;
  /** From the base line up. A part that is there is seen, however small its share is. */
  readonly failed: number;
  /** On top of the failed part. */
  readonly passed: number;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
  /** The height of the smallest part. */
  readonly least: number;
}

/** One bar a day: as high as the day was busy, with what failed at the bottom, where days can be compared. */
export function barsOf({ runs, failures }: Days, { width, height, gap, least }: Picture): readonly Bar[] {
  const most = Math.max(1, ...runs);
  const step = (width + gap) / Math.max(1, runs.length);
  return runs.map((count, day) => {
    const x = round(day * step);
    const failing = failures[day] ?? 0;
    const parts = (failing > 0 ? least : 0) + (count > failing ? least : 0);
    const whole = count === 0 ? 0 : Math.max(parts, (height * count) / most);
    const share = count === 0 ? 0 : (whole * failing) / count;
    const failed = failing === 0 ? 0 : Math.min(whole - (count > failing ? least : 0), Math.max(least, share));
    return { x, width: round(step - gap), failed: round(failed), passed: round(whole - failed) };
  });
}

export interface Paths {
  readonly failed: string;
  readonly passed: string;
  /** A mark on the base line for each day without a run. */
  readonly none: string;
}

/** The bars of a whole picture as three shapes, so that long lists stay light. */
export function pathsOf(days: Days, picture: Picture): Paths {
  const bars = barsOf(days, picture);
  const base = picture.height;
  const box = ({ x, width }: Bar, bottom: number, height: number) =>
    height === 0 ? '' : `M${x} ${round(bottom)}h${width}v${-height}h${-width}z`;
  return {
    failed: bars.map((bar) => box(bar, base, bar.failed)).join(''),
    passed: bars.map((bar) => box(bar, base - bar.failed, bar.passed)).join(''),
    none: bars.map((bar) => (bar.failed + bar.passed === 0 ? box(bar, base, 1) : '')).join(''),
  };
}

/** Tells the bars to those who do not see them. */
export function sentenceOfDays({ runs, failures }: Days): string {
  const all = sum(runs);
  const failed = sum(failures);
  if (all === 0) return `No run in the last ${runs.length} days`;
  const days = failures.filter((count) => count > 0).length;
  const when = failed === 0 ? '' : `, on ${days} ${days === 1 ? 'day' : 'days'}`;
  return `${failed} of ${all} ${all === 1 ? 'run' : 'runs'} failed in the last ${runs.length} days${when}`;
}

const DAY_MS = 86_400_000;

/** Such as `17 Sep`. */
export function formatDay({ first_day }: Days, day: number): string {
  const at = new Date(Date.parse(`${first_day}T00:00:00Z`) + day * DAY_MS);
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
