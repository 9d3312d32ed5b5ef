import { cut, padEnd, shownWidth } from '../core/text-width.ts';

const GAP = '  ';
const MIN_WIDTH = 8;

/**
 * Aligned lines, none longer than `width`. The last `loose` columns shrink, the widest first; if that is not enough,
 * the line is cut. Cells are clean, and may be coloured.
 */
export function alignRows(rows: readonly (readonly string[])[], width: number, loose: number): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...rows.map((row) => shownWidth(row[index] ?? ''))),
  );
  shrink(widths, width, loose);
  return rows.map((row) => {
    const cells = row.map((cell, index) => padEnd(cut(cell, widths[index] as number), widths[index] as number));
    return cut(cells.join(GAP).trimEnd(), width);
  });
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
