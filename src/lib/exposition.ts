/** The Prometheus text exposition format, version 0.0.4. */

export const EXPOSITION_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type Labels = Readonly<Record<string, string>>;

export interface Gauge {
  readonly type: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly samples: readonly { readonly labels: Labels; readonly value: number }[];
}

export interface Histogram {
  readonly type: 'histogram';
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending, without +Inf. */
  readonly bounds: readonly number[];
  readonly samples: readonly HistogramSample[];
  /** Leaves out buckets far from any value. Only for a snapshot: a bucket of a counter must not appear later. */
  readonly isTrimmed?: true;
}

interface HistogramSample {
  readonly labels: Labels;
  /** How many values each bucket got, the last one beyond all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export function gauge<Line extends { readonly labels: Labels }>(
  name: string,
  help: string,
  lines: readonly Line[],
  measure: (line: Line) => number,
  type: Gauge['type'] = 'gauge',
): Gauge {
  return { type, name, help, samples: lines.map((line) => ({ labels: line.labels, value: measure(line) })) };
}

/** A sample of values that are all known. */
export function toHistogramSample(
  labels: Labels,
  bounds: readonly number[],
  values: readonly number[],
): HistogramSample {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const value of values) {
    const found = bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? bounds.length : found;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return { labels, counts, sum: values.reduce((total, value) => total + value, 0) };
}

export function formatExposition(families: readonly (Gauge | Histogram)[]): string {
  return families.map(formatFamily).join('');
}

function formatFamily(family: Gauge | Histogram): string {
  const lines = [`# HELP ${family.name} ${escapeHelp(family.help)}`, `# TYPE ${family.name} ${family.type}`];
  if (family.type !== 'histogram') {
    for (const { labels, value } of family.samples) lines.push(`${family.name}${formatLabels(labels)} ${value}`);
  } else {
    for (const sample of family.samples) lines.push(...formatHistogram(family, sample));
  }
  return `${lines.join('\n')}\n`;
}

function formatHistogram(family: Histogram, { labels, counts, sum }: HistogramSample): string[] {
  const { name, bounds } = family;
  const upTo = (index: number) => counts.slice(0, index + 1).reduce((total, count) => total + count, 0);
  const all = upTo(bounds.length);
  const isShown = (index: number) =>
    family.isTrimmed !== true || (upTo(index + 1) > 0 && (index === 0 || upTo(index - 1) < all));
  const lines = bounds.flatMap((bound, index) =>
    isShown(index) ? [`${name}_bucket${formatLabels({ ...labels, le: String(bound) })} ${upTo(index)}`] : [],
  );
  lines.push(`${name}_bucket${formatLabels({ ...labels, le: '+Inf' })} ${all}`);
  lines.push(`${name}_sum${formatLabels(labels)} ${sum}`);
  lines.push(`${name}_count${formatLabels(labels)} ${all}`);
  return lines;
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
