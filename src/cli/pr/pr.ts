import { InvalidArgumentError } from 'commander';
import { present } from '../../lib/present.ts';
import { SLUICE } from '../../lib/sluice-command.ts';
import { AT_TEXT, formatRepo, parseInstant, parseIntegerWithin } from '../core/arguments.ts';
import { choice, commandFor, type Row, row } from '../core/command.ts';
import { confirm } from '../core/confirm.ts';
import type { Context } from '../core/context.ts';
import type { CliError } from '../core/exit.ts';
import { readForetold } from '../core/forecast.ts';
import { type AnswerOf, type BodyOf, CHOICES } from '../core/operations.ts';
import { ENTRY, QUEUE } from '../core/place.ts';
import { clean, formatNextPage } from '../core/terminal.ts';
import { findPage, openPage, WEB_TEXT } from '../core/web.ts';
import { formatEntries, formatOutcome, formatRecord } from './format-entry.ts';
import { targets } from './targets.ts';
import { TIMEOUT, WAIT_TEXT, waitForEnd, watch } from './wait.ts';

const PRIORITIES = ['urgent', 'high', 'medium', 'low'];

function parsePriority(given: string): string {
  if (PRIORITIES.includes(given.toLowerCase()) || (/^\d{1,3}$/.test(given) && Number(given) <= 255)) return given;
  throw new InvalidArgumentError(`Choose one of ${PRIORITIES.join(', ')}, or a number from 0 (first) to 255 (last).`);
}

export const PRIORITY = {
  '-p, --priority <priority>': {
    text: 'Who goes first: a name, or 0 (first) to 255 (last).',
    choices: PRIORITIES,
    parse: parsePriority,
  },
} as const;

const submit = row({
  on: ENTRY,
  text: 'Submit a pull request; again, to change its priority.',
  takes: {
    ...TIMEOUT,
    ...PRIORITY,
    '--no-batch': 'Never test it in a batch with others.',
    '--batch': 'Let it be tested in a batch again.',
    '--repair': 'It repairs a red target branch: test it alone on the head while the queue holds.',
    '--force': 'Submit it even if the queue refuses what failed and is unchanged.',
    '--stack': 'Submit the pull requests that it is based on, too.',
    '--sha <commit>': 'The head commit that is meant: at another one, nothing is submitted.',
    '--dry-run': 'Only say what it would do: whether it starts, and who is tested again for it.',
    '--yes': 'Make it urgent without asking, also if that interrupts test runs.',
    '--wait': 'Wait until it has left the queue; the exit code says whether it landed.',
  },
  more: WAIT_TEXT,
  examples: [
    'sluice pr submit 7',
    'sluice pr submit local/acme/app main 7',
    'sluice pr submit 7 --priority high --no-batch',
    'sluice pr submit 7 --wait --timeout 1h',
    'sluice pr submit 7 --priority urgent --dry-run',
    'sluice pr submit 7 --repair',
    'sluice pr submit 7 --sha "$(git rev-parse HEAD)"',
  ],
  run: async (context, { repo, targetBranch, pr, ...options }) => {
    const { priority, batch, sha, repair, stack: submitStack, force } = options;
    const body = {
      ...{ repo, targetBranch, pr: { ...pr, ...present({ sha }) } },
      ...present({ priority, noBatch: batch === undefined ? undefined : !batch, repair }),
    };
    if (options.dryRun) {
      const preview = await context.call('previewSubmission', body);
      return context.show(preview, () => `#${pr.number}: ${clean(preview.text)}`);
    }
    if (/^(?:urgent|0+)$/i.test(priority ?? '')) await sayBefore(context, body, options);
    const record = await context.act('submitPullRequest', { ...body, ...present({ submitStack, force }) });
    if (options.wait) return waitForEnd(context, { repo, targetBranch, pr, ...options });
    const follow = `${SLUICE} pr status ${formatRepo(repo)} ${targetBranch} ${pr.number}`;
    context.show(record, () => `${formatOutcome(record)}\nWhere it stands: ${follow}`);
  },
});

/** A person at a terminal decides whether that is worth it. A server before version 0.3 cannot say it. */
async function sayBefore(
  context: Context,
  body: BodyOf<'previewSubmission'>,
  { yes }: { readonly yes?: true },
): Promise<void> {
  const preview = await context.call('previewSubmission', body).catch((error: unknown) => {
    const { code } = ((error as CliError).problem ?? {}) as { readonly code?: string };
    if (code !== 'ROUTE_NOT_FOUND') throw error;
  });
  if (preview === undefined) return;
  const isAtTerminal = process.stdin.isTTY && process.stderr.isTTY;
  const warning = clean(preview.text);
  if (preview.testedAgain.length === 0 || yes || !isAtTerminal) process.stderr.write(`${warning}\n`);
  else await confirm({ warning, question: 'Make it urgent?' });
}

const actExamples = (name: string) => [`sluice pr ${name} 7`, `sluice pr ${name} local/acme/app main 7`];

const cancel = commandFor('cancelPullRequest', {
  on: ENTRY,
  text: 'Remove a pull request from the queue.',
  examples: actExamples('cancel'),
  show: formatOutcome,
});

const restart = commandFor('restartTestsOnPullRequest', {
  on: ENTRY,
  text: 'Test a pull request in the queue again.',
  examples: actExamples('restart'),
  show: formatOutcome,
});

// SPEC Y11
const status = row({
  on: ENTRY,
  text: 'Show where a pull request stands, why, what to do next, and its history.',
  takes: { '--at <when>': [AT_TEXT, parseInstant('past')], '--web': WEB_TEXT },
  examples: [
    'sluice pr status 7',
    'sluice pr status local/acme/app main 7',
    `sluice pr status 7 --at '10:22'`,
    'sluice pr status 7 --json',
    'sluice pr status 7 --web',
  ],
  run: async (context, { web, at, ...entry }) => {
    if (web) {
      const { repo, targetBranch, pr } = entry;
      const parts = [targetBranch, 'pr', String(pr.number)];
      return openPage(await findPage(context, { repo, forgePath: `pull/${pr.number}`, parts, at }));
    }
    const body = {
      ...{ ...entry, includeTimeline: true, includeExplanation: true },
      ...present({ includeResult: context.isJson || undefined }),
    };
    const record =
      at === undefined
        ? await readForetold(context, 'pollPullRequest', { ...body, includeForecast: true })
        : await context.call('getSubmittedPullRequest', { ...body, at });
    context.show(record, () => formatRecord(record));
  },
});

type State = AnswerOf<'listPullRequests'>['pullRequests'][number]['state'];

const list = commandFor(
  'listPullRequests',
  {
    on: QUEUE,
    text: 'List pull requests that are or were in the queue, the latest first.',
    takes: {
      '--state <state>': choice('Only those in this state.', CHOICES.pullRequestState as readonly NonNullable<State>[]),
      '--since <when>': [
        'Only those that left the queue since: 7d (days; also m, h, w) ago, or an instant.',
        parseInstant('past'),
      ],
      '--until <when>': ['Only those that left the queue until: as --since.', parseInstant('past')],
      '--limit <number>': ['How many at most, 1 to 100.', parseIntegerWithin(1, 100)],
      '--cursor <cursor>': 'Start after the end of the page before.',
    },
    examples: [
      'sluice pr list',
      'sluice pr list local/acme/app main',
      'sluice pr list local/acme/app main --state merged --since 7d',
    ],
    show: (reply) => formatEntries(reply.pullRequests) + formatNextPage(reply.nextCursor),
  },
  ({ limit, ...asked }) => ({ ...asked, ...present({ take: limit }) }),
);

export const PR: Row = {
  examples: ['sluice pr submit 7', 'sluice pr status 7', 'sluice pr status local/acme/app main 7'],
  rows: { submit, cancel, restart, status, watch, targets, list },
};
