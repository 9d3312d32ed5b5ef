import type { Context } from '../core/context.ts';
import { followEvents } from '../core/event-lines.ts';
import type { Place } from '../core/place.ts';
import { clean, say, write } from '../core/terminal.ts';
import { shownWidth } from '../core/text-width.ts';
import { renderFrame } from './frame.ts';
import { type Reading, readQueue, readSnapshot, type WatchedQueue } from './read-queue.ts';

export interface View {
  /** Reads the queue and shows what is new. */
  look(): Promise<Look>;
  /** A message about the view itself; undefined clears it. */
  notice(text: string | undefined): void;
  /** A line from another source, such as the demo's story beside the view. */
  tell(text: string): void;
  close(): void;
}

export interface Look {
  /** Nothing is in the queue, and everything about it was shown. */
  readonly isEmpty: boolean;
  /** The queue may change at any moment without an act of a person. */
  readonly isMoving: boolean;
}

function judge({ state, enqueuedPullRequests: entries }: WatchedQueue): Look {
  const isUnderTest = entries.some((entry) => entry.state === 'TESTING');
  const isMoving = isUnderTest || (state !== 'PAUSED' && entries.some((entry) => entry.state !== 'NOT_READY'));
  return { isEmpty: entries.length === 0, isMoving };
}

export function createView(context: Context, place: Place): View {
  const isLive = process.stdout.isTTY && process.env['TERM'] !== 'dumb' && !context.isJson;
  return isLive ? createPicture(context, place, process.stdout) : createLines(context, place);
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

// SPEC W10
function createPicture(context: Context, place: Place, stream: NodeJS.WriteStream): View {
  let last: Reading | undefined;
  let notice: string | undefined;
  let before: readonly string[] = [];
  let isClosed = false;
  const draw = (): void => {
    if (last === undefined || isClosed) return;
    // The last column and the last line stay free, because a terminal would scroll.
    const width = Math.max(20, (stream.columns || 80) - 1);
    const height = Math.max(3, (stream.rows || 24) - 1);
    const lines = renderFrame(last.snapshot, { width, height, now: Date.now(), notice });
    stream.write(redraw(before, lines, stream.columns || 80));
    before = lines;
  };
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    stream.off('resize', draw);
    process.off('exit', close);
    stream.write(SHOW_CURSOR);
  };
  stream.write(HIDE_CURSOR);
  stream.on('resize', draw);
  process.once('exit', close);
  return {
    look: async () => {
      last = await readSnapshot(context, place, last);
      draw();
      return judge(last.snapshot.queue);
    },
    notice: (text) => {
      notice = text;
      draw();
    },
    tell: (line) => {
      stream.write(redraw(before, [line, ...before], stream.columns || 80));
    },
    close,
  };
}

const TYPES = ['pull_request.*', 'queue.*', 'alarm.*'];
/** How many events from before the watch are shown. */
const PAST = 10;

// SPEC W1
function createLines(context: Context, place: Place): View {
  const follow = followEvents(context, { ...place, types: TYPES }, PAST);
  let queue: WatchedQueue | undefined;
  let wasEmpty = true;
  return {
    look: async () => {
      queue = await readQueue(context, place, queue);
      const { isEmpty, isMoving } = judge(queue);
      const count = await follow();
      // The events of an entry may get their places in the feed a moment after it has left.
      const isOver = wasEmpty && isEmpty && count === 0;
      wasEmpty = isEmpty;
      return { isMoving, isEmpty: isOver };
    },
    notice: (text) => say(clean(text ?? 'The server answers again.')),
    // A stream of JSON contains only the events.
    tell: (text) => (context.isJson ? say(text) : write(text)),
    close: () => {},
  };
}

/** The escape sequence from the previous picture to the next. A narrower terminal wraps the previous lines. */
export function redraw(before: readonly string[], lines: readonly string[], columns: number): string {
  const height = before.reduce((sum, line) => sum + rowsOf(line, columns), 0);
  const up = height === 0 ? '' : `${ESC}${height}A`;
  return `${up}\r${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(shownWidth(line) / columns));
}
