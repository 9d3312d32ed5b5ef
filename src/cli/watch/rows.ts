import { GAP, MIN_WIDTH, shrink } from '../core/table.ts';
import { cut, padEnd, shownWidth } from '../core/text-width.ts';

/** The last `loose` columns shrink, the widest first; then the line is cut. Cells are clean, and may be coloured. */
export function alignRows(rows: readonly (readonly string[])[], width: number, loose: number): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...rows.map((row) => shownWidth(row[index] ?? ''))),
  );
  shrink(widths, width, (index) => (index >= count - loose ? MIN_WIDTH : undefined));
  return rows.map((row) => {
    const cells = row.map((cell, index) => padEnd(cut(cell, widths[index] as number), widths[index] as number));
    return cut(cells.join(GAP).trimEnd(), width);
  });
}
