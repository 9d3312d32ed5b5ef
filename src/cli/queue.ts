import { present } from '../lib/present.ts';
import { SLUICE } from '../lib/sluice-command.ts';
import { AT_TEXT, formatRepo, parseInstant, parseRepo, REPO_TEXT, type RepoRef } from './core/arguments.ts';
import { commandFor, type Row, row } from './core/command.ts';
import type { Context } from './core/context.ts';
import { CliError, usageError } from './core/exit.ts';
import { readForetold, tellForecast } from './core/forecast.ts';
import type { AnswerOf } from './core/operations.ts';
import { NEW_QUEUE, QUEUE } from './core/place.ts';
import { formatFacts } from './core/table.ts';
import { clean, formatTime, paint, shownState, styleOfState } from './core/terminal.ts';
import { findPage, openPage, WEB_TEXT } from './core/web.ts';
import { formatFindings, INSPECTION_MS } from './forge/check.ts';
import { formatAdvice, formatAlarms, formatFrozen, formatHold, formatLearned, formatQueues } from './format-queue.ts';
import { formatExplained } from './pr/format-entry.ts';
import { FREEZE } from './queue-freeze.ts';
import { listSettings, readSettings, SETTING_OPTIONS } from './queue-settings.ts';

const create = row({
  on: NEW_QUEUE,
  text: 'Create a merge queue for a branch.',
  takes: SETTING_OPTIONS,
  examples: [
    'sluice queue create local/acme/app main',
    'sluice queue create local/acme/app main --mode parallel --concurrency 8',
    'sluice queue create local/acme/app main --batch --batching-min-size 6 --required-statuses test,lint',
  ],
  run: async (context, { repo, targetBranch, ...settings }) => {
    const reply = await context.act('createQueue', { repo, targetBranch, ...readSettings(settings) });
    const next = context.isJson ? '' : await describeNext(context, repo, targetBranch);
    context.show(reply, () => `Created.\n\n${describeQueue(repo, reply)}${next}${proposeAdaptive(repo, reply)}`);
  },
});

/** The API keeps its default, because other clients compare settings with it. */
// SPEC K25
function proposeAdaptive(repo: RepoRef, { branch, optimizationMode }: DescribedQueue): string {
  if (optimizationMode === 'ADAPTIVE') return '';
  const command = `${SLUICE} queue update ${formatRepo(repo)} ${branch} --optimization-mode ADAPTIVE --run-cost 2`;
  return `Let the queue size its own groups: ${command}\n`;
}

// SPEC G97, Q41
async function describeNext(context: Context, repo: RepoRef, targetBranch: string): Promise<string> {
  const place = `${formatRepo(repo)} ${targetBranch}`;
  const again = `${SLUICE} forge check ${place}`;
  const submit = `\nNext: ${SLUICE} pr submit ${place} NUMBER\n`;
  try {
    const { findings } = await context.call('inspectRepository', { repo, targetBranch }, { timeoutMs: INSPECTION_MS });
    const missing = findings.filter(({ level }) => level !== 'OK');
    if (missing.length === 0) return repo.host === 'local' ? submit : `\nNothing is missing on the forge.\n${submit}`;
    const hasNoCheck = missing.some(({ code }) => code === 'NO_REQUIRED_CHECKS');
    const next = hasNoCheck
      ? `\nNext, with the names of your checks: ${SLUICE} queue update ${place} --required-statuses test\n`
      : submit;
    return `\nWhat is missing${repo.host === 'local' ? '' : ' on the forge'}:\n${formatFindings(missing)}\n${next}Look again: ${again}\n`;
  } catch (error) {
    if (error instanceof CliError) return `\nSee what is missing: ${again}\n${submit}`;
    throw error;
  }
}

// SPEC Y11
const show = row({
  on: QUEUE,
  text: 'Show a queue and the pull requests in it.',
  takes: {
    '--settings': 'Show every setting, not only those that were changed.',
    '--at <when>': [AT_TEXT, parseInstant('past')],
    '--web': WEB_TEXT,
  },
  examples: [
    'sluice queue show',
    'sluice queue show local/acme/app main',
    `sluice queue show --at '10:22'`,
    'sluice queue show --json',
  ],
  run: async (context, { repo, targetBranch, settings, at, web }) => {
    if (web) {
      return openPage(await findPage(context, { repo, forgePath: `tree/${targetBranch}`, parts: [targetBranch], at }));
    }
    const body = { repo, targetBranch, includeExplanation: !context.isJson };
    const reply =
      at === undefined
        ? await readForetold(context, 'pollQueue', { ...body, includeForecast: !context.isJson })
        : await context.call('getQueue', { ...body, at });
    context.show(
      reply,
      () => `${describeQueue(repo, reply, settings)}\n${formatExplained(reply.enqueuedPullRequests)}`,
    );
  },
});

const update = commandFor(
  'updateQueue',
  {
    on: QUEUE,
    text: 'Change settings of a queue. The others keep their values.',
    takes: {
      ...SETTING_OPTIONS,
      '--delete-required-statuses':
        'Drop the override of the required statuses: back to what the repository or the forge says.',
    },
    examples: [
      'sluice queue update --concurrency 8',
      'sluice queue update local/acme/app main --concurrency 8 --no-batch',
      'sluice queue update local/acme/app main --delete-required-statuses',
    ],
    show: (reply, { repo }) => {
      const changed = reply.note === undefined ? `Changed.${describeSwitch(repo, reply)}\n\n` : '';
      return `${changed}${describeQueue(repo, reply)}`;
    },
  },
  ({ repo, targetBranch, ...options }) => {
    const { deleteRequiredStatuses } = options as { readonly deleteRequiredStatuses?: true };
    const changes = { ...readSettings(options), ...present({ deleteRequiredStatuses }) };
    if (Object.keys(changes).length === 0)
      throw usageError('Say what to change, such as --concurrency 8. --help lists every setting.');
    return { repo, targetBranch, ...changes };
  },
);

const REASON = { '--reason <text>': 'Why. Authors see it in explanations and comments.' } as const;
const PAUSE = {
  '--until <when>': [
    'When the queue goes on: 17:00, 2h (also m, d), or an instant such as 2027-01-31T17:00:00Z.',
    parseInstant('future'),
  ],
} as const;

interface Steering {
  readonly state: 'PAUSED' | 'RUNNING' | 'DRAINING';
  readonly text: string;
  readonly examples?: readonly string[];
}

function steer(name: string, { state, text, examples = [] }: Steering): Row {
  return commandFor(
    'updateQueue',
    {
      ...{ on: QUEUE, text },
      takes: state === 'PAUSED' ? { ...REASON, ...PAUSE } : REASON,
      examples: [`sluice queue ${name}`, `sluice queue ${name} local/acme/app main`, ...examples],
      show: (reply, { repo, targetBranch }) =>
        `${formatRepo(repo)} ${targetBranch} is ${paint(styleOfState(reply.state), reply.state)}.`,
    },
    (given) => ({ ...given, state }),
  );
}

// SPEC K29
const advise = commandFor('adviseQueue', {
  on: QUEUE,
  text: 'Replay the history of a queue with its settings and with ADAPTIVE, and compare.',
  examples: ['sluice queue advise', 'sluice queue advise local/acme/app main'],
  // The server replays at most 500 pull requests six times.
  timeoutMs: 120_000,
  show: formatAdvice,
});

const remove = commandFor('deleteQueue', {
  on: QUEUE,
  text: 'Delete an empty queue.',
  examples: ['sluice queue delete local/acme/app main'],
  show: (_reply, { repo, targetBranch }) => `The queue ${formatRepo(repo)} ${targetBranch} is deleted.`,
});

const list = commandFor('listQueues', {
  text: 'List the queues and how many pull requests are in each state.',
  takes: { '[repo]': [REPO_TEXT, parseRepo] },
  examples: ['sluice queue list', 'sluice queue list local/acme/app'],
  show: ({ queues }) => formatQueues(queues),
});

export const QUEUES: Row = {
  examples: ['sluice queue create local/acme/app main', 'sluice queue show local/acme/app main'],
  rows: {
    ...{ create, show, update },
    pause: steer('pause', {
      state: 'PAUSED',
      text: 'Pause a queue: it admits, starts and lands nothing until it is resumed.',
      examples: [`sluice queue pause --reason 'release 4.2' --until 17:00`],
    }),
    resume: steer('resume', { state: 'RUNNING', text: 'Resume a queue after pause or drain.' }),
    drain: steer('drain', {
      state: 'DRAINING',
      text: 'Drain a queue: it finishes what is in it and admits nothing new.',
    }),
    ...{ freeze: FREEZE, advise, delete: remove, list },
  },
};

/** Explains the wait, if a mode change is pending. */
function describeSwitch(repo: RepoRef, { state, branch }: { readonly state: string; readonly branch: string }): string {
  if (state !== 'SWITCHING_MODES') return '';
  return (
    ' The mode changes when the pull requests that are in the queue have landed or left; until then it admits no others' +
    ` and takes no other change. See them: sluice queue show ${formatRepo(repo)} ${branch}`
  );
}

type DescribedQueue = AnswerOf<'updateQueue'> & Partial<Pick<AnswerOf<'getQueue'>, 'alarms' | 'forecast'>>;

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
