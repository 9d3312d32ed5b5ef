import { clean, paint, type Style, terminalWidth } from './terminal.ts';
import { cut, widthOf, wrap, wrapWords } from './text-width.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** Shrinks first if the terminal is too narrow. */
  readonly shrinks?: true;
  /** Shrinks first too, and goes on in the next line instead of being cut. */
  readonly wraps?: true;
  /** Never cut, because users copy it. */
  readonly keeps?: true;
  readonly style?: (cell: string) => Style | undefined;
}

export const GAP = '  ';
/** A narrower cell would be unreadable. */
export const MIN_WIDTH = 8;
const MIN_WRAPPED_WIDTH = 24;
/** More of a title would fill a narrow screen. */
const MAX_BLOCK_CELL = 200;

interface CellColumn<Row> extends Column {
  readonly cell: (row: Row) => string;
}

// SPEC W32
export function formatRows<Row>(
  rows: readonly Row[],
  columns: readonly CellColumn<Row>[],
  width = terminalWidth(),
): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  if (width !== undefined) return formatTable(columns, cells, width);
  return cells.map((row) => `${row.map(clean).join('\t')}\n`).join('');
}

/** Aligned columns, cut to the width if there is one. If they still do not fit, each row becomes a block of lines. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width?: number): string {
  const cells = rows.map((row) => row.map(clean));
  const wanted = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = width === undefined ? wanted : fitColumns(columns, wanted, width);
  if (widths === undefined) return formatBlocks(columns, cells, width);
  const formatLine = (row: readonly string[], isHead: boolean): string =>
    columns
      .map((column, index) => {
        const isLast = index === columns.length - 1;
        const cell = pad(row[index] ?? '', widths[index] as number, column.align, isLast);
        return paint(isHead ? 'gray' : column.style?.(cell), cell);
      })
      .join(GAP)
      .trimEnd();
  const formatRow = (row: readonly string[], isHead: boolean): string => {
    const lines = columns.map(({ wraps }, index) => {
      const width = widths[index] as number;
      return wraps ? wrap(row[index] ?? '', width) : [cut(row[index] ?? '', width)];
    });
    const height = Math.max(...lines.map(({ length }) => length));
    const rows = Array.from({ length: height }, (_, at) => lines.map((cell) => cell[at] ?? ''));
    return rows.map((line) => formatLine(line, isHead)).join('\n');
  };
  const head = formatRow(
    columns.map(({ title }) => title),
    true,
  );
  return `${[head, ...cells.map((row) => formatRow(row, false))].join('\n')}\n`;
}

function minWidthOf({ wraps }: Column): number {
  return wraps ? MIN_WRAPPED_WIDTH : MIN_WIDTH;
}

/** Shrinks the columns that may be cut first, then all others. Undefined if that is not enough. */
function fitColumns(columns: readonly Column[], wanted: readonly number[], width: number): number[] | undefined {
  const widths = [...wanted];
  const shrinkSome = (isMeant: (column: Column) => unknown): boolean =>
    shrink(widths, width, (index) => {
      const column = columns[index] as Column;
      return isMeant(column) ? minWidthOf(column) : undefined;
    });
  const fits = shrinkSome(({ shrinks, wraps }) => shrinks || wraps) || shrinkSome(({ keeps }) => !keeps);
  return fits ? widths : undefined;
}

/** Shrinks the widest column that has a floor and is above it, until the line fits. False if it never does. */
export function shrink(widths: number[], width: number, floorOf: (index: number) => number | undefined): boolean {
  const gaps = GAP.length * (widths.length - 1);
  while (widths.reduce((sum, each) => sum + each, gaps) > width) {
    const widest = widths.reduce(
      (best, each, index) => (each > Math.max(floorOf(index) ?? each, widths[best] ?? 0) ? index : best),
      -1,
    );
    if (widest === -1) return false;
    widths[widest] = (widths[widest] as number) - 1;
  }
  return true;
}

function formatBlocks(columns: readonly Column[], rows: readonly (readonly string[])[], width?: number): string {
  const formatBlock = (row: readonly string[]): string =>
    formatFacts(
      columns.map(({ title, style, shrinks }, index) => {
        const whole = row[index] ?? '';
        const cell = shrinks ? cut(whole, MAX_BLOCK_CELL) : whole;
        return [title, paint(style?.(cell), cell)];
      }),
      width,
    );
  return rows.map(formatBlock).join('\n');
}

function pad(text: string, width: number, align: 'right' | undefined, isLast: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  if (align === 'right') return space + text;
  return isLast ? text : text + space;
}

/** A value that is not known has no line. */
export type Facts = readonly (readonly [name: string, value: string | undefined])[];

/** `name  value` lines, the values aligned and wrapped to the width of the terminal. */
export function formatFacts(facts: Facts, width: number | undefined = terminalWidth()): string {
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const indent = Math.max(...known.map(({ name }) => name.length)) + GAP.length;
  const room = width === undefined ? undefined : Math.max(MIN_WIDTH, width - indent);
  const lines = known.map(({ name, value }) => {
    const parts = room === undefined ? [value] : wrapWords(value.split(' '), room);
    return `${paint('gray', name.padEnd(indent))}${parts.join(`\n${' '.repeat(indent)}`)}`.trimEnd();
  });
  return `${lines.join('\n')}\n`;
}
