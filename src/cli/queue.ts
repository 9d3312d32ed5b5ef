import type { Command } from 'commander';
import type { ReplyOf } from '../contract/operation.ts';
import type { getQueue, updateQueue } from '../contract/queues.ts';
import { present } from '../lib/present.ts';
import {
  AT_TEXT,
  addExamples,
  formatRepo,
  parseInstant,
  parseRepo,
  REPO_TEXT,
  type RepoRef,
} from './core/arguments.ts';
import { type Context, withContext } from './core/context.ts';
import { CliError, usageError } from './core/exit.ts';
import { readForetold, tellForecast } from './core/forecast.ts';
import { addQueueArguments, withNewQueue, withQueue } from './core/place.ts';
import { formatFacts } from './core/table.ts';
import { clean, formatTime, paint, shownState, styleOfState } from './core/terminal.ts';
import { findPage, openPage, WEB_TEXT } from './core/web.ts';
import { formatFindings, INSPECTION_MS } from './forge/check.ts';
import { formatExplained } from './format-entry.ts';
import { formatAdvice, formatAlarms, formatFrozen, formatHold, formatLearned, formatQueues } from './format-queue.ts';
import { defineFreeze } from './queue-freeze.ts';
import { addSettingOptions, listSettings, readSettings } from './queue-settings.ts';

type Options = Readonly<Record<string, unknown>>;

export function defineQueue(queue: Command): void {
  addExamples(queue, ['sluice queue create local/acme/app main', 'sluice queue show local/acme/app main']);
  defineCreate(queue);
  defineShow(queue);
  defineUpdate(queue);
  defineState(queue, {
    verb: 'pause',
    state: 'PAUSED',
    summary: 'Pause a queue: it admits, starts and lands nothing until it is resumed',
  });
  defineState(queue, { verb: 'resume', state: 'RUNNING', summary: 'Resume a queue after pause or drain' });
  defineState(queue, {
    verb: 'drain',
    state: 'DRAINING',
    summary: 'Drain a queue: it finishes what is in it and admits nothing new',
  });
  defineFreeze(queue);
  defineAdvise(queue);
  defineDelete(queue);
  defineList(queue);
}

function defineCreate(queue: Command): void {
  const command = addQueueArguments(queue.command('create').description('Create a merge queue for a branch.'));
  addSettingOptions(command).action(
    withNewQueue(async (context, { repo, targetBranch }, options: Options) => {
      const reply = await context.call('createQueue', { repo, targetBranch, ...readSettings(options) });
      const next = context.isJson ? '' : await describeNext(context, repo, targetBranch);
      context.show(reply, () => `Created.\n\n${describeQueue(repo, reply)}${next}${proposeAdaptive(repo, reply)}`);
    }),
  );
  addExamples(command, [
    'sluice queue create local/acme/app main',
    'sluice queue create local/acme/app main --mode parallel --concurrency 8',
    'sluice queue create local/acme/app main --batch --batching-min-size 6 --required-statuses test,lint',
  ]);
}

/** The API keeps its default, because other clients compare settings with it. */
// SPEC K25
function proposeAdaptive(repo: RepoRef, { branch, optimizationMode }: DescribedQueue): string {
  if (optimizationMode === 'ADAPTIVE') return '';
  const command = `sluice queue update ${formatRepo(repo)} ${branch} --optimization-mode ADAPTIVE --run-cost 2`;
  return `Let the queue size its own groups: ${command}\n`;
}

/** Reports at once any setup fault that would block the first pull request; without one, the next step. */
// SPEC G97, Q41
async function describeNext(context: Context, repo: RepoRef, targetBranch: string): Promise<string> {
  const place = `${formatRepo(repo)} ${targetBranch}`;
  const again = `sluice forge check ${place}`;
  const submit = `\nNext: sluice pr submit ${place} NUMBER\n`;
  try {
    const { findings } = await context.call('inspectRepository', { repo, targetBranch }, { timeoutMs: INSPECTION_MS });
    const missing = findings.filter(({ level }) => level !== 'OK');
    if (missing.length === 0) return repo.host === 'local' ? submit : `\nNothing is missing on the forge.\n${submit}`;
    const hasNoCheck = missing.some(({ code }) => code === 'NO_REQUIRED_CHECKS');
    const next = hasNoCheck
      ? `\nNext, with the names of your checks: sluice queue update ${place} --required-statuses test\n`
      : submit;
    return `\nWhat is missing${repo.host === 'local' ? '' : ' on the forge'}:\n${formatFindings(missing)}\n${next}Look again: ${again}\n`;
  } catch (error) {
    if (error instanceof CliError) return `\nSee what is missing: ${again}\n${submit}`;
    throw error;
  }
}

// SPEC Y11
function defineShow(queue: Command): void {
  const command = addQueueArguments(queue.command('show').description('Show a queue and the pull requests in it.'))
    .option('--settings', 'Show every setting, not only those that were changed.')
    .option('--at <when>', AT_TEXT, parseInstant('past'))
    .option('--web', WEB_TEXT)
    .action(
      withQueue(async (context, { repo, targetBranch }, options: { settings?: true; web?: true; at?: string }) => {
        if (options.web) {
          const page = { repo, forgePath: `tree/${targetBranch}`, parts: [targetBranch], at: options.at };
          return openPage(await findPage(context, page));
        }
        const body = { repo, targetBranch, includeExplanation: !context.isJson };
        const reply =
          options.at === undefined
            ? await readForetold(context, 'pollQueue', { ...body, includeForecast: !context.isJson })
            : await context.call('getQueue', { ...body, at: options.at });
        context.show(
          reply,
          () => `${describeQueue(repo, reply, options.settings)}\n${formatExplained(reply.enqueuedPullRequests)}`,
        );
      }),
    );
  addExamples(command, [
    'sluice queue show',
    'sluice queue show local/acme/app main',
    `sluice queue show --at '10:22'`,
    'sluice queue show --json',
  ]);
}

function defineUpdate(queue: Command): void {
  const command = addQueueArguments(
    queue.command('update').description('Change settings of a queue. The others keep their values.'),
  );
  addSettingOptions(command)
    .option(
      '--delete-required-statuses',
      'Drop the override of the required statuses: back to what the repository or the forge says.',
    )
    .action(
      withQueue(async (context, { repo, targetBranch }, options: Options) => {
        const changes = {
          ...readSettings(options),
          ...(options['deleteRequiredStatuses'] ? { deleteRequiredStatuses: true } : {}),
        };
        if (Object.keys(changes).length === 0)
          throw usageError('Say what to change, such as --concurrency 8. --help lists every setting.');
        const reply = await context.call('updateQueue', { repo, targetBranch, ...changes });
        context.show(reply, () => {
          const changed = reply.note === undefined ? `Changed.${describeSwitch(repo, reply)}\n\n` : '';
          return `${changed}${describeQueue(repo, reply)}`;
        });
      }),
    );
  addExamples(command, [
    'sluice queue update --concurrency 8',
    'sluice queue update local/acme/app main --concurrency 8 --no-batch',
    'sluice queue update local/acme/app main --delete-required-statuses',
  ]);
}

interface StateOptions {
  readonly reason?: string;
  readonly until?: string;
}

function defineState(queue: Command, what: { verb: string; state: string; summary: string }): void {
  const { verb, state } = what;
  const command = addQueueArguments(queue.command(verb).description(`${what.summary}.`)).option(
    '--reason <text>',
    'Why. Authors see it in explanations and comments.',
  );
  if (state === 'PAUSED') {
    const text = 'When the queue goes on: 17:00, 2h (also m, d), or an instant such as 2027-01-31T17:00:00Z.';
    command.option('--until <when>', text, parseInstant('future'));
  }
  command.action(
    withQueue(async (context, { repo, targetBranch }, { reason, until }: StateOptions) => {
      const change = { ...readSettings({ state }), ...present({ reason, until }) };
      const reply = await context.call('updateQueue', { repo, targetBranch, ...change });
      context.show(
        reply,
        () => `${formatRepo(repo)} ${targetBranch} is ${paint(styleOfState(reply.state), reply.state)}.`,
      );
    }),
  );
  const examples = [`sluice queue ${verb}`, `sluice queue ${verb} local/acme/app main`];
  const paused = `sluice queue pause --reason 'release 4.2' --until 17:00`;
  addExamples(command, state === 'PAUSED' ? [...examples, paused] : examples);
}

/** The server replays at most 500 pull requests six times. */
const ADVICE_MS = 120_000;

// SPEC K29
function defineAdvise(queue: Command): void {
  const command = addQueueArguments(
    queue
      .command('advise')
      .description('Replay the history of a queue with its settings and with ADAPTIVE, and compare.'),
  ).action(
    withQueue(async (context, { repo, targetBranch }) => {
      const reply = await context.call('adviseQueue', { repo, targetBranch }, { timeoutMs: ADVICE_MS });
      context.show(reply, () => formatAdvice(reply));
    }),
  );
  addExamples(command, ['sluice queue advise', 'sluice queue advise local/acme/app main']);
}

function defineDelete(queue: Command): void {
  const command = addQueueArguments(queue.command('delete').description('Delete an empty queue.')).action(
    withQueue(async (context, { repo, targetBranch }) => {
      const reply = await context.call('deleteQueue', { repo, targetBranch });
      context.show(reply, () => `The queue ${formatRepo(repo)} ${targetBranch} is deleted.`);
    }),
  );
  addExamples(command, ['sluice queue delete local/acme/app main']);
}

function defineList(queue: Command): void {
  const command = queue
    .command('list')
    .description('List the queues and how many pull requests are in each state.')
    .argument('[repo]', REPO_TEXT, parseRepo)
    .action(
      withContext(async (context, repo: RepoRef | undefined) => {
        const reply = await context.call('listQueues', repo === undefined ? {} : { repo });
        context.show(reply, () => formatQueues(reply.queues));
      }),
    );
  addExamples(command, ['sluice queue list', 'sluice queue list local/acme/app']);
}

/** Explains the wait, if a mode change is pending. */
function describeSwitch(repo: RepoRef, { state, branch }: { readonly state: string; readonly branch: string }): string {
  if (state !== 'SWITCHING_MODES') return '';
  return (
    ' The mode changes when the pull requests that are in the queue have landed or left; until then it admits no others' +
    ` and takes no other change. See them: sluice queue show ${formatRepo(repo)} ${branch}`
  );
}

type DescribedQueue = ReplyOf<typeof updateQueue> & Partial<Pick<ReplyOf<typeof getQueue>, 'alarms' | 'forecast'>>;

function describeQueue(repo: RepoRef, queue: DescribedQueue, all = false): string {
  const unused = new Set(queue.learned?.unusedSettings);
  const settings = listSettings(queue, { all }).map(([name, value]): [string, string] => [
    name,
    unused.has(name) ? `${value} (not used in this mode)` : value,
  ]);
  const state = shownState(queue);
  const title = `${paint('bold', `${formatRepo(repo)} ${queue.branch}`)}  ${paint(styleOfState(state), state)}\n`;
  const facts = settings.length === 0 ? 'All settings have their defaults.\n' : formatFacts(settings);
  return (
    title +
    describeState(queue) +
    describeParked(repo, queue) +
    formatHold(queue.held) +
    formatFrozen(queue.frozen) +
    formatAlarms(queue.alarms) +
    formatLearned(queue.learned) +
    formatNext(queue) +
    facts
  );
}

function formatNext(queue: DescribedQueue): string {
  const text = tellForecast(queue);
  return text === undefined ? '' : `Submitted now: ${clean(text)}\n`;
}

/** `PAUSED by ada (12 min ago), ends in 48 min: release 4.2` */
function describeState({ state, stateBy, stateSince, stateReason, stateUntil }: DescribedQueue): string {
  if (state === 'RUNNING' || stateBy === undefined || stateSince === undefined) return '';
  const end = stateUntil === undefined ? '' : `, ends ${clean(formatTime(stateUntil))}`;
  const why = stateReason === undefined ? '' : `: ${clean(stateReason)}`;
  return `${state} by ${clean(stateBy)} (${formatTime(stateSince)})${end}${why}\n`;
}

/** The queue stopped itself, so the text also says what to do. */
function describeParked(repo: RepoRef, { branch, parked }: DescribedQueue): string {
  if (parked === undefined) return '';
  const resume = `sluice queue resume ${formatRepo(repo)} ${branch}`;
  return (
    `${paint('red', `It stopped itself at event ${parked.eventId}: ${clean(parked.reason)}`)}\n` +
    `It takes submissions and results, and starts and lands nothing. When you have looked: ${resume}\n`
  );
}
