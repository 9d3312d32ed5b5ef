import { paint, type Style } from '../core/terminal.ts';
import { cut, widthOf } from '../core/text-width.ts';

/** A piece of a cell in one colour. Its text is clean. */
export interface RowPart {
  readonly text: string;
  readonly style?: Style | undefined;
}

export type Cell = readonly RowPart[];

const GAP = '  ';
const MIN_WIDTH = 8;

/**
 * Aligned lines, none longer than `width`. The last `loose` columns shrink, the widest first; if that is not enough,
 * the line ends early.
 */
export function alignRows(rows: readonly (readonly Cell[])[], width: number, loose: number): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, index) => Math.max(...rows.map((row) => cellWidth(row[index]))));
  shrink(widths, width, loose);
  return rows.map((row) => formatRow(row, widths, width));
}

function shrink(widths: number[], width: number, loose: number): void {
  const gaps = GAP.length * (widths.length - 1);
  const first = widths.length - loose;
  while (widths.reduce((sum, each) => sum + each, gaps) > width) {
    const widest = widths.reduce(
      (best, each, index) => (index >= first && each > (widths[best] ?? 0) ? index : best),
      -1,
    );
    if (widest === -1 || (widths[widest] as number) <= MIN_WIDTH) return;
    widths[widest] = (widths[widest] as number) - 1;
  }
}

function formatRow(row: readonly Cell[], widths: readonly number[], width: number): string {
  let line = '';
  let room = width;
  for (const [index, cell] of row.entries()) {
    if (room < (index === 0 ? 1 : GAP.length + 1)) break;
    if (index > 0) {
      line += GAP;
      room -= GAP.length;
    }
    const space = Math.min(widths[index] as number, room);
    line += formatCell(cell, space);
    room -= space;
  }
  return line.trimEnd();
}

/** Exactly `width` cells wide. */
function formatCell(cell: Cell, width: number): string {
  const isCut = cellWidth(cell) > width;
  let room = width;
  let text = '';
  for (const part of cell) {
    // If the cell does not fit, its last piece ends in a mark.
    const isLast = isCut && widthOf(part.text) >= room;
    const piece = isLast ? cut(`${part.text} `, room) : part.text;
    text += paint(part.style, piece);
    room -= widthOf(piece);
    if (isLast) break;
  }
  return text + ' '.repeat(Math.max(0, room));
}

function cellWidth(cell: Cell | undefined): number {
  return (cell ?? []).reduce((sum, { text }) => sum + widthOf(text), 0);
}
