import { clean, paint, type Style, terminalWidth } from './terminal.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** Shrinks first if the terminal is too narrow. */
  readonly shrinks?: true;
  /** Never cut, because users copy it. */
  readonly keeps?: true;
  readonly style?: (cell: string) => Style | undefined;
}

const GAP = '  ';
/** A narrower cell would be unreadable. */
const MIN_WIDTH = 8;

interface CellColumn<Row> extends Column {
  readonly cell: (row: Row) => string;
}

/** A table as wide as the terminal. */
export function formatRows<Row>(rows: readonly Row[], columns: readonly CellColumn<Row>[]): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  return formatTable(columns, cells, terminalWidth());
}

/** Aligned columns, cut to the width if there is one. If they still do not fit, each row becomes a block of lines. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width?: number): string {
  const cells = rows.map((row) => row.map(clean));
  const wanted = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = width === undefined ? wanted : shrink(columns, wanted, width);
  if (widths === undefined) return formatBlocks(columns, cells);
  const formatRow = (row: readonly string[], isHead: boolean): string =>
    columns
      .map((column, index) => {
        const text = row[index] ?? '';
        const isLast = index === columns.length - 1;
        const cell = pad(cut(text, widths[index] as number), widths[index] as number, column.align, isLast);
        return paint(isHead ? 'gray' : column.style?.(text), cell);
      })
      .join(GAP)
      .trimEnd();
  const head = formatRow(
    columns.map(({ title }) => title),
    true,
  );
  return `${[head, ...cells.map((row) => formatRow(row, false))].join('\n')}\n`;
}

/** Shrinks the `shrinks` columns, the widest first, then all others. Undefined if that is not enough. */
function shrink(columns: readonly Column[], wanted: readonly number[], width: number): number[] | undefined {
  const widths = [...wanted];
  const gaps = GAP.length * (columns.length - 1);
  const isTooWide = (): boolean => widths.reduce((sum, each) => sum + each, gaps) > width;
  for (const isCandidate of [(column: Column) => column.shrinks === true, (column: Column) => !column.keeps]) {
    while (isTooWide()) {
      const indexes = columns.flatMap((column, index) =>
        isCandidate(column) && (widths[index] as number) > MIN_WIDTH ? [index] : [],
      );
      const [first, ...others] = indexes;
      if (first === undefined) break;
      const widest = others.reduce(
        (best, index) => ((widths[index] as number) > (widths[best] as number) ? index : best),
        first,
      );
      widths[widest] = (widths[widest] as number) - 1;
    }
  }
  return isTooWide() ? undefined : widths;
}

function formatBlocks(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const formatBlock = (row: readonly string[]): string =>
    formatFacts(
      columns.map(({ title, style }, index) => {
        const cell = row[index] ?? '';
        return [title, paint(style?.(cell), cell)];
      }),
    );
  return rows.map(formatBlock).join('\n');
}

function pad(text: string, width: number, align: 'right' | undefined, isLast: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  if (align === 'right') return space + text;
  return isLast ? text : text + space;
}

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of segments(text)) {
    used += segmentWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

let segmenter: Intl.Segmenter | undefined;

/** The segmenter takes milliseconds to make, and most texts need none. */
function segments(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

export function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII, the common case, needs no segments
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments(text)) width += segmentWidth(segment);
  return width;
}

// Characters that terminals draw two cells wide: emoji, and the scripts and forms of East Asia.
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]/u;

function segmentWidth(segment: string): number {
  return WIDE.test(segment) ? 2 : 1;
}

/** `name  value` lines, the values aligned. */
export function formatFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
    .map(([name, value]) => `${paint('gray', name.padEnd(width))}  ${value}`.trimEnd())
    .join('\n')
    .concat('\n');
}
