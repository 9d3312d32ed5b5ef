import { stripVTControlCharacters } from 'node:util';
import { widthOf } from '../core/table.ts';

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

/** Lines on a terminal that are drawn over again and again. */
export interface Screen {
  draw(lines: readonly string[]): void;
  /** A line that stays, above the picture. */
  print(line: string): void;
  /** Leaves the last picture, and the terminal as it was. */
  close(): void;
}

export function createScreen(stream: NodeJS.WriteStream): Screen {
  let before: readonly string[] = [];
  let isClosed = false;
  const showCursor = (): void => {
    stream.write(SHOW_CURSOR);
  };
  stream.write(HIDE_CURSOR);
  // Also where the process ends in the middle of things.
  process.once('exit', showCursor);
  return {
    draw: (lines) => {
      if (isClosed) return;
      stream.write(redraw(before, lines, stream.columns || 80));
      before = lines;
    },
    print: (line) => {
      stream.write(redraw(before, [line, ...before], stream.columns || 80));
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      process.off('exit', showCursor);
      showCursor();
    },
  };
}

/** What turns the picture before into the next one. On a terminal that became narrower the lines before are wrapped. */
export function redraw(before: readonly string[], lines: readonly string[], columns: number): string {
  const height = before.reduce((sum, line) => sum + rowsOf(line, columns), 0);
  const up = height === 0 ? '' : `${ESC}${height}A`;
  return `${up}\r${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns));
}
