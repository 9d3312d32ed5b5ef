import { setTimeout as delay } from 'node:timers/promises';
import type { EntryRecord } from '../../contract/entry.ts';
import { present } from '../../lib/present.ts';
import { parseDuration } from '../core/arguments.ts';
import { row } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import { createPatience } from '../core/patience.ts';
import { ENTRY, type EntryPlace } from '../core/place.ts';
import { readAgain } from '../core/poll.ts';
import { drawStatus } from '../core/status-line.ts';
import { clean, say } from '../core/terminal.ts';
import { formatEnd } from './format-entry.ts';

/** A landing is told within a second. */
const POLL_MS = 500;
/** As the command `timeout` exits. */
export const TIMED_OUT = 124;

export const WAIT_TEXT = `The exit code of a wait is 0 when the pull request has landed, 1 when it was
removed, and 124 when the time of --timeout is over.`;

export const TIMEOUT = {
  '--timeout <time>': [
    'Give up waiting after this time: 30m (minutes; also s, h, d). The pull request stays in the queue.',
    parseDuration,
  ],
} as const;

export const watch = row({
  on: ENTRY,
  text: 'Wait until a pull request has left the queue, and show its progress.',
  takes: TIMEOUT,
  more: WAIT_TEXT,
  examples: ['sluice pr watch 7', 'sluice pr watch local/acme/app main 7 --timeout 30m'],
  run: waitForEnd,
});

interface Waited extends EntryPlace {
  /** In milliseconds. */
  readonly timeout?: number;
}

// SPEC W27
export async function waitForEnd(context: Context, { timeout, ...entry }: Waited): Promise<void> {
  const progress = createProgressLine();
  context.client.onWait = progress.note;
  try {
    const until = Date.now() + (timeout ?? Number.POSITIVE_INFINITY);
    const record = await pollUntil(hasEnded, context, entry, { progress, until });
    progress.close();
    if (record === undefined) {
      process.exitCode = TIMED_OUT;
      progress.note(`#${entry.pr.number} is still in the queue. Stopped waiting.`);
      return;
    }
    context.show(record, () => formatEnd(record));
    if (record.state !== 'MERGED') process.exitCode = EXIT.refused;
  } finally {
    progress.close();
  }
}

export interface Wait {
  readonly progress: ProgressLine;
  readonly until: number;
  /** It was submitted just now: also the first question outlasts a restart of the server. */
  readonly isSubmitted?: true;
  /** The answer has the result. */
  readonly includeResult?: true;
}

/** Undefined when the time is over. */
export async function pollUntil(
  isOver: (record: EntryRecord) => boolean,
  context: Context,
  { repo, targetBranch, pr }: EntryPlace,
  { progress, until, isSubmitted, includeResult }: Wait,
): Promise<EntryRecord | undefined> {
  const body = { ...{ repo, targetBranch, pr, includeExplanation: true }, ...present({ includeResult }) };
  const patience = createPatience({ failed: progress.note, back: progress.note });
  let record: EntryRecord | undefined;
  const ask = () => readAgain((asked: typeof body) => context.call('pollPullRequest', asked), body, record);
  record = isSubmitted ? await patience.ask(ask) : await ask();
  while (record === undefined || !isOver(record)) {
    if (record !== undefined) progress.show(describe(record, context.isJson));
    if (Date.now() >= until) return undefined;
    await delay(Math.min(POLL_MS, until - Date.now()));
    record = (await patience.ask(ask)) ?? record;
  }
  return record;
}

export function hasEnded(record: EntryRecord): boolean {
  const { state, prNumber, isCurrentlySubmittedToQueue } = record;
  if (state === undefined)
    throw new CliError(EXIT.refused, `#${prNumber} is not in the queue. Submit it first: sluice pr submit ${prNumber}`);
  return !isCurrentlySubmittedToQueue;
}

/** A program gets no text of others beside its answer. */
function describe({ prNumber, state, explanation }: EntryRecord, isForProgram: boolean): string {
  const why = isForProgram ? explanation?.headline : (explanation?.reasons[0]?.text ?? explanation?.summary);
  return `#${prNumber} ${state ?? ''}: ${why ?? ''}`;
}

/** Tells on standard error how a wait goes on. */
export interface ProgressLine {
  /** The present state; a repeated one is not told again. */
  show(text: string): void;
  /** A message that stays. */
  note(text: string): void;
  close(): void;
}

// SPEC W28
export function createProgressLine(): ProgressLine {
  const isLive = process.stderr.isTTY && process.env['TERM'] !== 'dumb';
  let last = '';
  const draw = (text: string): void => {
    if (isLive) drawStatus(process.stderr, text);
  };
  return {
    show: (text) => {
      if (clean(text) === last) return;
      last = clean(text);
      if (isLive) draw(last);
      else say(`${new Date().toISOString()} ${last}`);
    },
    note: (text) => {
      draw('');
      say(clean(text));
      draw(last);
    },
    close: () => draw(''),
  };
}
