import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { chainDigest } from '../lib/digest-chain.ts';
import { present } from '../lib/present.ts';
import { collectNames, parseInstant, parseIntegerWithin, parsePrNumber, parseRepo } from './core/arguments.ts';
import { type Given, type Row, row } from './core/command.ts';
import type { Context } from './core/context.ts';
import { followEvents, formatEvents } from './core/event-lines.ts';
import { CliError, EXIT, usageError } from './core/exit.ts';
import type { AnswerOf } from './core/operations.ts';
import { clean, say, write } from './core/terminal.ts';

type Event = AnswerOf<'listEvents'>['events'][number];

const POLL_MS = 1_000;

const OPTIONS = {
  '-R, --repo <repo>': ['Only those of this repository, as host/owner/name.', parseRepo],
  '-B, --branch <branch>': 'Only those of the queue for this branch. Needs -R.',
  '--pr <number>': ['Only those of this pull request. Needs -R.', parsePrNumber],
  '--type <types>': [
    'Only these types or families, such as pull_request.merged or queue.*; by commas, or repeated.',
    collectNames,
  ],
  '--since <when>': ['Only those since then: 2h, 3d, or an instant.', parseInstant('past')],
  '--until <when>': ['Only those before then: 2h, 3d, or an instant.', parseInstant('past')],
  '-n, --limit <n>': { text: 'How many at most, up to 200.', parse: parseIntegerWithin(1, 200), initial: 50 },
  '-f, --follow': 'Go on with what happens.',
} as const;

export const EVENTS = row({
  text: 'Show the latest events of the organization, the newest last.',
  takes: OPTIONS,
  examples: [
    'sluice events',
    'sluice events -f --type "pull_request.*"',
    'sluice events -R github.com/acme/app --pr 7',
    'sluice events --type "token.*,queue.*" --since 7d --json',
  ],
  run: showEvents,
});

// SPEC W47
async function showEvents(context: Context, options: Given<typeof OPTIONS>): Promise<void> {
  const { repo, branch, pr, type: types, since, until, limit } = options;
  const asked = {
    ...present({ repo, targetBranch: branch, prNumber: pr, types }),
    ...present({ after: since, before: until }),
  };
  if (options.follow === undefined) {
    const newest = await context.call('listEvents', { ...asked, limit });
    return context.show(newest, () => formatEvents(newest.events.toReversed()));
  }
  const follow = followEvents(context, asked, limit);
  for (;;) if ((await follow()) === 0) await delay(POLL_MS);
}

const exportAll = row({
  text: 'Print all records of the audit, one JSON document a line, the oldest first.',
  examples: ['sluice audit export > audit.jsonl'],
  run: async (context) => {
    for await (const record of readRecords(context)) write(`${JSON.stringify(context.pick(record, 'listEvents'))}\n`);
  },
});

const verify = row({
  text: 'Check that no record of the audit was changed, removed or inserted, and name the first that was.',
  takes: {
    '--file <file>': 'Check an exported file instead of the server.',
    '--digest <digest>': 'A digest that was printed before: its record must still be there.',
  },
  examples: ['sluice audit verify', 'sluice audit verify --file audit.jsonl'],
  run: (context, { file, digest }) =>
    verifyRecords(context, file === undefined ? readRecords(context) : readFile(file), digest),
});

export const AUDIT: Row = {
  examples: ['sluice audit verify', 'sluice audit export > audit.jsonl'],
  rows: { export: exportAll, verify },
};

type Records = AsyncIterable<Event>;

async function* readRecords(context: Context): AsyncGenerator<Event> {
  let cursor = '0';
  for (;;) {
    const page = await context.call('listEvents', { audit: true, order: 'ASC', cursor, limit: 200 });
    yield* page.events;
    if (page.events.length < 200) return;
    cursor = page.nextCursor ?? cursor;
  }
}

async function* readFile(file: string): AsyncGenerator<Event> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      if (line.trim() !== '') yield JSON.parse(line) as Event;
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(`Line ${number} of ${file} is not JSON.`);
    throw usageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
}

// SPEC X6
async function verifyRecords(context: Context, records: Records, expected: string | undefined): Promise<void> {
  let digest: string | null = null;
  let count = 0;
  let isFound = expected === undefined;
  for await (const { digest: own = '', ...record } of records) {
    if (own !== chainDigest(record, digest)) throw broken(record, count === 0);
    digest = own;
    count += 1;
    isFound ||= own === expected;
  }
  if (!isFound)
    throw new CliError(EXIT.refused, `No record has the digest ${expected}: records were removed at the end.`);
  context.show(
    { records: count, digest },
    () => `${count} records, none changed. Keep this digest: ${digest ?? 'none'}\n`,
  );
  if (!context.isJson) say('Next: sluice audit verify --digest DIGEST shows later that nothing was removed since.');
}

function broken({ id, type, at, text }: Event, isFirst: boolean): CliError {
  const where = isFirst ? 'It is the first one, so records before it may be missing.' : '';
  const what = `Record ${id} (${type} at ${at}: ${clean(text)}) does not fit the one before it.`;
  return new CliError(
    EXIT.refused,
    `${what} It was changed, or records before it were removed or inserted. ${where}`.trim(),
  );
}
