import { formatRepo } from '../core/arguments.ts';
import { clean, say, write } from '../core/terminal.ts';
import { formatChange } from './changes.ts';
import { renderFrame } from './frame.ts';
import type { Reading } from './read-queue.ts';
import { createScreen } from './screen.ts';
import type { Snapshot } from './snapshot.ts';

/** Where a watched queue is shown. */
export interface Display {
  /** What must be read for it. */
  readonly wants: { readonly changes: boolean; readonly waits: boolean };
  show(reading: Reading): void;
  /** Something about the view itself; undefined: it is well again. */
  notice(text: string | undefined): void;
  /** A line of somebody else, such as a story that is told beside the view. */
  tell(text: string): void;
  close(): void;
}

/** A picture that is drawn over itself. */
export function createLiveDisplay(stream: NodeJS.WriteStream): Display {
  const screen = createScreen(stream);
  let snapshot: Snapshot | undefined;
  let notice: string | undefined;
  const draw = (): void => {
    if (snapshot === undefined) return;
    // The last column and the last line stay free: a terminal would scroll.
    const width = Math.max(20, (stream.columns || 80) - 1);
    const height = Math.max(3, (stream.rows || 24) - 1);
    screen.draw(renderFrame(snapshot, { width, height, now: Date.now(), notice }));
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

/** A line for each change, of JSON where asked for. */
export function createLineDisplay(isJson: boolean): Display {
  let state: string | undefined;
  return {
    wants: { changes: true, waits: false },
    show: ({ snapshot, changes }) => {
      for (const change of changes) write(isJson ? JSON.stringify(change) : formatChange(change));
      const { repo, queue } = snapshot;
      if (!isJson && state !== undefined && state !== queue.state) {
        write(clean(`${new Date().toISOString()} ${formatRepo(repo)} ${queue.branch} ${state} -> ${queue.state}`));
      }
      state = queue.state;
    },
    notice: (text) => say(clean(text ?? 'The server answers again.')),
    // Nothing but the changes belongs into a stream of JSON.
    tell: (text) => (isJson ? say(text) : write(text)),
    close: () => {},
  };
}
