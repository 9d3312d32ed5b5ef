import { clean, say } from './terminal.ts';
import { cut } from './text-width.ts';

/** Tells on standard error how a wait goes on. */
export interface ProgressLine {
  /** The present state; a repeated one is not told again. */
  show(text: string): void;
  /** A message that stays. */
  note(text: string): void;
  close(): void;
}

const CLEAR = '\r\u001b[K';

/** On a terminal one line that is redrawn, elsewhere a line with its time for each change. */
// SPEC W28
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const isLive = stream.isTTY && process.env['TERM'] !== 'dumb';
  let last = '';
  const draw = (): void => {
    if (isLive) stream.write(CLEAR + cut(last, (stream.columns || 80) - 1));
  };
  return {
    show: (text) => {
      if (clean(text) === last) return;
      last = clean(text);
      if (isLive) draw();
      else say(`${new Date().toISOString()} ${last}`);
    },
    note: (text) => {
      if (isLive) stream.write(CLEAR);
      say(clean(text));
      draw();
    },
    close: () => {
      if (isLive) stream.write(CLEAR);
    },
  };
}
