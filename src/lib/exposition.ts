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
  readonly samples: readonly { readonly labels: Labels; readonly values: readonly number[] }[];
}

export function formatExposition(families: readonly (Gauge | Histogram)[]): string {
  return families.map(formatFamily).join('');
}

function formatFamily(family: Gauge | Histogram): string {
  const lines = [`# HELP ${family.name} ${escapeHelp(family.help)}`, `# TYPE ${family.name} ${family.type}`];
  if (family.type !== 'histogram') {
    for (const { labels, value } of family.samples) lines.push(`${family.name}${formatLabels(labels)} ${value}`);
  } else {
    for (const sample of family.samples) lines.push(...formatHistogram(family, sample.labels, sample.values));
  }
  return `${lines.join('\n')}\n`;
}

function formatHistogram({ name, bounds }: Histogram, labels: Labels, values: readonly number[]): string[] {
  const lines = bounds.map((bound) => {
    const count = values.filter((value) => value <= bound).length;
    return `${name}_bucket${formatLabels({ ...labels, le: String(bound) })} ${count}`;
  });
  lines.push(`${name}_bucket${formatLabels({ ...labels, le: '+Inf' })} ${values.length}`);
  lines.push(`${name}_sum${formatLabels(labels)} ${values.reduce((sum, value) => sum + value, 0)}`);
  lines.push(`${name}_count${formatLabels(labels)} ${values.length}`);
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
