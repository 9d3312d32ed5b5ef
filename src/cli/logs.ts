import { setTimeout as delay } from 'node:timers/promises';
import { type Given, row } from './core/command.ts';
import type { Context } from './core/context.ts';
import type { AnswerOf } from './core/operations.ts';
import { createPatience } from './core/patience.ts';
import { clean, paint, say } from './core/terminal.ts';
import { formatLogCommand } from './pr/format-entry.ts';

type Answer = AnswerOf<'getCandidateLog'>;

const FOLLOW_INTERVAL_MS = 500;

const TAKES = {
  '<candidate>': 'The id of the candidate (the test run): the last part of its test branch.',
  '[check]': 'The check. Default: the only one, or those that failed, or all.',
  '-f, --follow': 'Go on until the check has ended.',
} as const;

export const LOGS = row({
  text: 'Print the output of the checks of the built-in runner for a test run (candidate), also while they run.',
  takes: TAKES,
  examples: [
    'sluice logs 0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
    'sluice logs -f 0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55 test',
  ],
  run: showLogs,
});

async function showLogs(context: Context, { candidate, check, follow }: Given<typeof TAKES>): Promise<void> {
  const ask = check === undefined ? {} : { check };
  const first = await context.call('getCandidateLog', { testRunId: candidate, ...ask });
  const names = check === undefined ? chooseChecks(first) : [check];
  for (const [index, name] of names.entries()) {
    const heading = names.length > 1 ? formatHeading(first, name, index) : '';
    await showLog(context, { candidate, check: name, heading, isFollowing: follow === true });
  }
  const others = first.checks.length - names.length;
  if (check === undefined && others > 0 && !context.isJson) {
    say(`It has ${others} more ${others === 1 ? 'check' : 'checks'}: ${nameOthers(first, names)}.`);
  }
}

// SPEC W11
function chooseChecks({ checks }: Pick<Answer, 'checks'>): readonly string[] {
  const failed = checks.filter(({ conclusion }) => conclusion !== undefined && FAILED.has(conclusion));
  return (failed.length === 0 ? checks : failed).map(({ name }) => name);
}

const FAILED: ReadonlySet<string> = new Set(['FAILURE', 'TIMED_OUT', 'ACTION_REQUIRED']);

function nameOthers({ checks }: Answer, shown: readonly string[]): string {
  return checks.flatMap(({ name }) => (shown.includes(name) ? [] : [clean(name)])).join(', ');
}

function formatHeading({ checks }: Answer, name: string, index: number): string {
  const check = checks.find((each) => each.name === name);
  const state = check?.conclusion ?? check?.status ?? 'not started';
  return `${index === 0 ? '' : '\n'}${paint('bold', `== ${clean(name)} (${state})`)}\n`;
}

interface Wanted {
  readonly candidate: string;
  readonly check: string;
  readonly heading: string;
  readonly isFollowing: boolean;
}

async function showLog(context: Context, wanted: Wanted): Promise<void> {
  const { candidate, check, heading } = wanted;
  const sink = createSink(context.isJson ? '' : heading, context.isJson);
  let last: Answer | undefined;
  for await (const answer of readLog(context, wanted)) {
    sink.add(answer.text);
    last = answer;
    if (!process.stdout.writable) return;
  }
  const text = sink.end();
  if (last === undefined) return;
  if (context.isJson) context.show({ ...last, text }, () => text);
  else if (last.nextOffset === 0) say(describeNothing(last));
  if (!last.complete && !context.isJson) {
    say(`${clean(check)} is not done. To follow it: ${clean(formatLogCommand(candidate, check, '-f '))}`);
  }
}

// SPEC W12
async function* readLog(context: Context, { candidate, check, isFollowing }: Wanted): AsyncGenerator<Answer> {
  const patience = createPatience({ failed: say, back: say });
  for (let offset = 0; ; ) {
    const body = { testRunId: candidate, check, offset };
    // After the first answer, an unavailable server is most likely restarting.
    const ask = () => context.call('getCandidateLog', body);
    const answer = isFollowing ? await patience.ask(ask) : await ask();
    if (answer !== undefined) yield answer;
    if (answer?.complete) return;
    const isMore = answer !== undefined && answer.nextOffset > offset;
    if (!isMore && !isFollowing) return;
    offset = answer?.nextOffset ?? offset;
    if (!isMore) await delay(FOLLOW_INTERVAL_MS);
  }
}

interface Sink {
  add(text: string): void;
  /** The collected text, if it was not printed. */
  end(): string;
}

/** Raw into pipes and files, sanitized on a terminal, collected for one JSON document. */
// SPEC W3
function createSink(heading: string, isKept: boolean): Sink {
  if (isKept) {
    const parts: string[] = [];
    return { add: (text) => parts.push(text), end: () => parts.join('') };
  }
  process.stdout.write(heading);
  if (!process.stdout.isTTY) return { add: (text) => process.stdout.write(text), end: () => '' };
  const harmless = createLogText();
  return {
    add: (text) => process.stdout.write(harmless.add(text)),
    end: () => {
      process.stdout.write(harmless.end());
      return '';
    },
  };
}

function describeNothing({ check, checks, complete }: Answer): string {
  const url = checks.find(({ name }) => name === check)?.url ?? '';
  if (url !== '') return `${clean(check)} printed nothing here. Its details: ${clean(url)}`;
  return complete
    ? `${clean(check)} printed nothing, or so long ago that it is not kept any more.`
    : `${clean(check)} has printed nothing yet.`;
}

/** Foreign text. On a terminal its colours stay, and every other control sequence is removed. */
interface LogText {
  /** Sanitizes the next part; an incomplete sequence at its end waits for the following part. */
  add(text: string): string;
  /** The rest, and a reset of the colours. */
  end(): string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOUR = /\u001b\[[0-9;:]{0,40}m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFINISHED = /(?:\r|\u001b(?:\[[0-9;:]{0,40})?)$/;
// A colour, or a character that clean() of terminal.ts removes, without tabs and line ends.
const STEERING = new RegExp(
  `(${COLOUR.source})|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]`,
  'g',
);
const RESET = '\u001b[0m';

export function createLogText(): LogText {
  let waiting = '';
  let isColoured = false;
  const make = (text: string): string => {
    // A line that overwrites itself could hide text, so each state of it becomes a line.
    const lines = text.replace(/\r\n?/g, '\n');
    return lines.replace(STEERING, (_match, colour: string | undefined) => {
      if (colour !== undefined) isColoured = true;
      return colour ?? ' ';
    });
  };
  return {
    add: (text) => {
      const all = waiting + text;
      waiting = UNFINISHED.exec(all)?.[0] ?? '';
      return make(all.slice(0, all.length - waiting.length));
    },
    end: () => {
      const rest = make(waiting);
      waiting = '';
      return isColoured ? rest + RESET : rest;
    },
  };
}
