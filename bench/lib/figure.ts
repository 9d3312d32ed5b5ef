export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The same measurement in the same run on the thing it is compared with. */
  readonly baseline?: number;
  /** The upper limit of the value, or of its ratio to the baseline if there is one. */
  readonly goal?: number | undefined;
  /** The upper limit of the value, although there is a baseline. */
  readonly limit?: number | undefined;
  /** The lower limit of the ratio to the baseline. */
  readonly floor?: number | undefined;
}

export function printFigure({ name, value, unit, baseline, goal, limit, floor }: Figure): void {
  const ratio = baseline === undefined || baseline === 0 ? undefined : round(value / baseline);
  const figure = {
    name,
    value: round(value),
    unit,
    baseline: baseline === undefined ? undefined : round(baseline),
    ratio,
    goal,
    limit,
    floor,
  };
  console.log(JSON.stringify(figure));
}

export function progress(text: string): void {
  console.error(`# ${text}`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function round(value: number): number {
  return Number(value.toPrecision(4));
}

export function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] as number;
}
