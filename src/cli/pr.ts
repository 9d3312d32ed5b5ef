import { type Command, InvalidArgumentError, Option } from 'commander';
import { present } from '../lib/present.ts';
import { AT_TEXT, addExamples, choiceOption, formatRepo, parseInstant, parseIntegerWithin } from './core/arguments.ts';
import { confirm } from './core/confirm.ts';
import type { Context } from './core/context.ts';
import type { CliError } from './core/exit.ts';
import { readForetold } from './core/forecast.ts';
import { type BodyOf, CHOICES } from './core/operations.ts';
import { addEntryArguments, addQueueArguments, withEntry, withQueue } from './core/place.ts';
import { clean, formatNextPage } from './core/terminal.ts';
import { findPage, openPage, WEB_TEXT } from './core/web.ts';
import { formatEntries, formatOutcome, formatRecord } from './format-entry.ts';
import { defineTargets } from './pr-targets.ts';
import { addTimeoutOption, defineWatchEntry, WAIT_TEXT, type WaitOptions, waitForEnd } from './pr-wait.ts';

export function definePr(pr: Command): void {
  addExamples(pr, ['sluice pr submit 7', 'sluice pr status 7', 'sluice pr status local/acme/app main 7']);
  defineSubmit(pr);
  defineAct(pr, 'cancelPullRequest', { verb: 'cancel', text: 'Remove a pull request from the queue.' });
  defineAct(pr, 'restartTestsOnPullRequest', { verb: 'restart', text: 'Test a pull request in the queue again.' });
  defineStatus(pr);
  defineWatchEntry(pr);
  defineTargets(pr);
  defineList(pr);
}

interface SubmitOptions extends WaitOptions {
  readonly priority?: string;
  readonly batch?: boolean;
  readonly repair?: boolean;
  readonly sha?: string;
  readonly wait?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

function defineSubmit(pr: Command): void {
  const command = addTimeoutOption(
    addEntryArguments(pr.command('submit').description('Submit a pull request; again, to change its priority.')),
  )
    .addOption(priorityOption())
    .option('--no-batch', 'Never test it in a batch with others.')
    .option('--batch', 'Let it be tested in a batch again.')
    .option('--repair', 'It repairs a red target branch: test it alone on the head while the queue holds.')
    .option('--sha <commit>', 'The head commit that is meant: at another one, nothing is submitted.')
    .option('--dry-run', 'Only say what it would do: whether it starts, and who is tested again for it.')
    .option('--yes', 'Make it urgent without asking, also if that interrupts test runs.')
    .option('--wait', 'Wait until it has left the queue; the exit code says whether it landed.')
    .action(
      withEntry(async (context, { repo, targetBranch, number }, options: SubmitOptions) => {
        const { priority, batch, sha, repair } = options;
        const body = {
          ...{ repo, targetBranch, pr: { number, ...present({ sha }) } },
          ...present({ priority, noBatch: batch === undefined ? undefined : !batch, repair }),
        };
        if (options.dryRun) {
          const preview = await context.call('previewSubmission', body);
          return context.show(preview, () => `#${number}: ${clean(preview.text)}`);
        }
        if (/^(?:urgent|0+)$/i.test(priority ?? '')) await sayBefore(context, body, options);
        const record = await context.call('submitPullRequest', body);
        if (options.wait) return waitForEnd(context, { repo, targetBranch, number }, options);
        const follow = `sluice pr status ${formatRepo(repo)} ${targetBranch} ${number}`;
        context.show(record, () => `${formatOutcome(record)}\nWhere it stands: ${follow}`);
      }),
    );
  command.addHelpText('after', WAIT_TEXT);
  addExamples(command, [
    'sluice pr submit 7',
    'sluice pr submit local/acme/app main 7',
    'sluice pr submit 7 --priority high --no-batch',
    'sluice pr submit 7 --wait --timeout 1h',
    'sluice pr submit 7 --priority urgent --dry-run',
    'sluice pr submit 7 --repair',
    'sluice pr submit 7 --sha "$(git rev-parse HEAD)"',
  ]);
}

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

function priorityOption(): Option {
  const names = ['urgent', 'high', 'medium', 'low'];
  return new Option('-p, --priority <priority>', 'Who goes first: a name, or 0 (first) to 255 (last).')
    .choices(names)
    .argParser((given: string) => {
      if (names.includes(given.toLowerCase()) || (/^\d{1,3}$/.test(given) && Number(given) <= 255)) return given;
      throw new InvalidArgumentError(`Choose one of ${names.join(', ')}, or a number from 0 (first) to 255 (last).`);
    });
}

type Act = 'cancelPullRequest' | 'restartTestsOnPullRequest';

function defineAct(pr: Command, operation: Act, { verb, text }: { verb: string; text: string }): void {
  const command = addEntryArguments(pr.command(verb).description(text)).action(
    withEntry(async (context, { repo, targetBranch, number }) => {
      const record = await context.call(operation, { repo, targetBranch, pr: { number } });
      context.show(record, () => formatOutcome(record));
    }),
  );
  addExamples(command, [`sluice pr ${verb} 7`, `sluice pr ${verb} local/acme/app main 7`]);
}

// SPEC Y11
function defineStatus(pr: Command): void {
  const description = 'Show where a pull request stands, why, what to do next, and its history.';
  const command = addEntryArguments(pr.command('status').description(description))
    .option('--at <when>', AT_TEXT, parseInstant('past'))
    .option('--web', WEB_TEXT)
    .action(
      withEntry(async (context, { repo, targetBranch, number }, { web, at }: { web?: true; at?: string }) => {
        if (web) {
          const parts = [targetBranch, 'pr', String(number)];
          return openPage(await findPage(context, { repo, forgePath: `pull/${number}`, parts, at }));
        }
        const body = { repo, targetBranch, pr: { number }, includeTimeline: true, includeExplanation: true };
        const record =
          at === undefined
            ? await readForetold(context, 'pollPullRequest', { ...body, includeForecast: true })
            : await context.call('getSubmittedPullRequest', { ...body, at });
        context.show(record, () => formatRecord(record));
      }),
    );
  addExamples(command, [
    'sluice pr status 7',
    'sluice pr status local/acme/app main 7',
    `sluice pr status 7 --at '10:22'`,
    'sluice pr status 7 --json',
    'sluice pr status 7 --web',
  ]);
}

interface ListOptions {
  readonly state?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

function defineList(pr: Command): void {
  const command = addQueueArguments(
    pr.command('list').description('List pull requests that are or were in the queue, the latest first.'),
  )
    .addOption(choiceOption('--state <state>', 'Only those in this state.', CHOICES.pullRequestState))
    .option(
      '--since <when>',
      'Only those that left the queue since: 7d (days; also m, h, w) ago, or an instant.',
      parseInstant('past'),
    )
    .option('--until <when>', 'Only those that left the queue until: as --since.', parseInstant('past'))
    .option('--limit <number>', 'How many at most, 1 to 100.', parseIntegerWithin(1, 100))
    .option('--cursor <cursor>', 'Start after the end of the page before.')
    .action(
      withQueue(async (context, place, options: ListOptions) => {
        const { state, limit: take, since, until, cursor } = options;
        const reply = await context.call('listPullRequests', {
          ...place,
          ...present({ state: state as 'MERGED' | undefined, take, since, until, cursor }),
        });
        context.show(reply, () => formatEntries(reply.pullRequests) + formatNextPage(reply.nextCursor));
      }),
    );
  addExamples(command, [
    'sluice pr list',
    'sluice pr list local/acme/app main',
    'sluice pr list local/acme/app main --state merged --since 7d',
  ]);
}
