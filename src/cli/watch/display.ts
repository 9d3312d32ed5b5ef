import { stripVTControlCharacters } from 'node:util';
import { formatRepo } from '../core/arguments.ts';
import { clean, say, write } from '../core/terminal.ts';
import { widthOf } from '../core/text-width.ts';
import { renderFrame } from './frame.ts';
import type { Reading } from './read-queue.ts';
import { formatChange, type Snapshot } from './snapshot.ts';

/** The output of a watched queue. */
export interface Display {
  /** The parts that the reader must fetch. */
  readonly wants: { readonly changes: boolean; readonly waits: boolean };
  show(reading: Reading): void;
  /** A message about the view itself; undefined clears it. */
  notice(text: string | undefined): void;
  /** A line from another source, such as the demo's story beside the view. */
  tell(text: string): void;
  close(): void;
}

/** A picture that is redrawn in place. */
export function createLiveDisplay(stream: NodeJS.WriteStream, now: () => number): Display {
  const screen = createScreen(stream);
  let snapshot: Snapshot | undefined;
  let notice: string | undefined;
  const draw = (): void => {
    if (snapshot === undefined) return;
    // The last column and the last line stay free, because a terminal would scroll.
    const width = Math.max(20, (stream.columns || 80) - 1);
    const height = Math.max(3, (stream.rows || 24) - 1);
    screen.draw(renderFrame(snapshot, { width, height, now: now(), notice }));
  };
  stream.on('resize', draw);
  return {
    wants: { changes: false, waits: true },
    show: (reading) => {
      snapshot = reading.snapshot;
      draw();
    },
    notice: (text) => {
      notice = text;
      draw();
    },
    tell: (text) => screen.print(text),
    close: () => {
      stream.off('resize', draw);
      screen.close();
    },
  };
}

/** A line for each change, as JSON if asked for. */
// SPEC W1
export function createLineDisplay(isJson: boolean, now: () => number): Display {
  let state: string | undefined;
  return {
    wants: { changes: true, waits: false },
    show: ({ snapshot, changes }) => {
      for (const change of changes) write(isJson ? JSON.stringify(change) : formatChange(change));
      const { repo, queue } = snapshot;
      if (!isJson && state !== undefined && state !== queue.state) {
        write(clean(`${new Date(now()).toISOString()} ${formatRepo(repo)} ${queue.branch} ${state} -> ${queue.state}`));
      }
      state = queue.state;
    },
    notice: (text) => say(clean(text ?? 'The server answers again.')),
    // A stream of JSON contains only the changes.
    tell: (text) => (isJson ? say(text) : write(text)),
    close: () => {},
  };
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

/** Terminal lines that are redrawn in place. */
interface Screen {
  draw(lines: readonly string[]): void;
  /** A line that stays, above the picture. */
  print(line: string): void;
  /** Leaves the last picture, and restores the terminal. */
  close(): void;
}

// SPEC W10
function createScreen(stream: NodeJS.WriteStream): Screen {
  let before: readonly string[] = [];
  let isClosed = false;
  const showCursor = (): void => {
    stream.write(SHOW_CURSOR);
  };
  stream.write(HIDE_CURSOR);
  // Also restores the cursor if the process exits unexpectedly.
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

/**
 * The escape sequence from the previous picture to the next. On a terminal that became narrower the previous lines are
 * wrapped.
 */
export function redraw(before: readonly string[], lines: readonly string[], columns: number): string {
  const height = before.reduce((sum, line) => sum + rowsOf(line, columns), 0);
  const up = height === 0 ? '' : `${ESC}${height}A`;
  return `${up}\r${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns));
}
