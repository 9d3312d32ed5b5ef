import { styleText } from 'node:util';

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'gray' | 'bold';

/** Colours the text if standard output is a terminal with colours and NO_COLOR is not set. */
export function paint(style: Style | undefined, text: string): string {
  return style === undefined || text === '' ? text : styleText(style, text);
}

/** The same for standard error. */
export function paintNote(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

const STATE_STYLES: Readonly<Record<string, Style>> = {
  RUNNING: 'green',
  HELD: 'red',
  PAUSED: 'yellow',
  DRAINING: 'yellow',
  SWITCHING_MODES: 'yellow',
  NOT_READY: 'gray',
  PENDING: 'bold',
  TESTING: 'cyan',
  TESTS_PASSED: 'green',
  PENDING_FAILURE: 'yellow',
  MERGED: 'green',
  FAILED: 'red',
  CANCELLED: 'gray',
};

export function styleOfState(state: string): Style | undefined {
  return STATE_STYLES[state.trimEnd()];
}

/** The API keeps RUNNING for a queue that holds, because other clients know no other state. */
// SPEC W60
export function shownState({ state, held }: { readonly state: string; readonly held?: unknown }): string {
  return state === 'RUNNING' && held !== undefined ? 'HELD' : state;
}

// Escape sequences and marks that reorder text: a title could use them to deceive the reader.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/** Makes foreign text harmless for a terminal, on one line. */
export function clean(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}

/** Longer names tell no more, and would fill the screen. */
const MAX_TITLE = 200;

// SPEC W39
export function cleanTitle(title: string): string {
  const text = clean(title);
  return text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE).toWellFormed()}…`;
}

export function write(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** For messages to people, beside the data on standard output. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** How to get the next page: below the table on a terminal, elsewhere on standard error, beside the rows. */
export function formatNextPage(cursor: string | undefined): string {
  if (!cursor) return '';
  const text = `There are more: add --cursor ${cursor}`;
  if (process.stdout.isTTY) return `${text}\n`;
  say(text);
  return '';
}

/** Undefined in pipes and files, where lines are not cut. Some terminals do not know their width and report 0. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
}

/** "3 min ago" on a terminal, the ISO instant elsewhere. */
export function formatTime(iso: string | null | undefined, never = '-'): string {
  if (iso === null || iso === undefined) return never;
  return process.stdout.isTTY ? formatRelative(Date.parse(iso), Date.now()) : iso;
}

const UNITS = [
  { name: 's', ms: 1000, below: 60 },
  { name: 'min', ms: 60_000, below: 60 },
  { name: 'h', ms: 3_600_000, below: 48 },
  { name: 'days', ms: 86_400_000, below: 60 },
] as const;

export function formatSize(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}

export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 1000) return 'now';
  for (const { name, ms, below } of UNITS) {
    const count = Math.floor(distance / ms);
    if (count < below) return at <= now ? `${count} ${name} ago` : `in ${count} ${name}`;
  }
  return new Date(at).toISOString().slice(0, 10);
}
