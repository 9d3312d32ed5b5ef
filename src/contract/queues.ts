import { type TSchema, Type } from 'typebox';
import { ALARM_CODES } from '../engine/model/effect.ts';
import { LIVE_STATES, QUEUE_STATES } from '../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../engine/model/settings.ts';
import { EXPOSITION_CONTENT_TYPE } from '../lib/exposition.ts';
import { Breakage } from './breakage.ts';
import { Empty, EXAMPLE_QUEUE, EXAMPLE_REPO, queueRef, Repo } from './common.ts';
import { EXAMPLE_LIST_ENTRY, Forecast, ListEntry } from './entry.ts';
import { operationsOf } from './operation.ts';
import { lookedBack, lookingBack, polled, polledAs, versioned } from './polled.ts';
import {
  boolean,
  bothOrNone,
  closed,
  component,
  inputInstant,
  instant,
  integer,
  limitTo,
  list,
  nameText,
  number,
  object,
  optional,
  outputEnum,
  patternText,
  readAs,
  record,
  text,
} from './schema.ts';
import { Freeze, settingChanges, settingInputs, settingOutputs } from './settings.ts';

const operation = operationsOf('Queues');

const configFields = {
  state: component(
    'QueueState',
    outputEnum(
      QUEUE_STATES,
      'RUNNING, PAUSED, DRAINING, or SWITCHING_MODES while a change of mode waits for the pull requests in the queue.',
    ),
  ),
  ...optional({
    stateSince: instant('When the state was set. Absent if nobody has set it, and on /trunk/v1.'),
    stateBy: text('Who set it: the name of a token or person, or sluice when a pause ended.'),
    stateReason: text('Why, as given.'),
    stateUntil: instant('When the pause ends.'),
  }),
  branch: text('The target branch.'),
  ...settingOutputs,
  ...optional({
    automaticSettings: list(
      Type.String(),
      'The settings that are unset and read as the number that holds for them now. Absent on /trunk/v1.',
    ),
    parked: record(
      'Parked',
      'The queue stopped itself, reads PAUSED, and starts and lands nothing until it is set to RUNNING. Absent otherwise.',
      {
        reason: text('The promise that would have been broken.'),
        eventId: integer('The event of the queue at which it happened.'),
      },
    ),
    held: record(
      'Hold',
      'The target branch is to blame: nothing else is tested and nobody is removed for a failure until its head passes or moves. Absent otherwise, and on /trunk/v1.',
      {
        kind: text('RED_BRANCH: the head itself fails. BROKEN_CONFIGURATION: nothing can be tested on it.'),
        since: instant('When it began.'),
        text: text('Why, and what happens next, in words.'),
        checks: list(Type.String(), 'The checks that the head fails.'),
        ...optional({
          nextTestAt: instant('When the head is tested again automatically. Absent while it is being tested.'),
          breakage: Breakage,
        }),
      },
    ),
    frozen: record('Frozen', 'A freeze holds: tests go on, and nothing lands. Absent otherwise, and on /trunk/v1.', {
      name: text('The freeze that holds; of several, the one that ends last.'),
      since: instant('When it began.'),
      until: instant('When pull requests land again. Freezes that follow without a gap count.'),
      allowUrgent: boolean('Urgent pull requests land now.'),
      text: text('The same in words.'),
    }),
    learned: record(
      'Learned',
      'With optimizationMode ADAPTIVE: the statistics by which the queue sizes its groups. Absent otherwise, and on /trunk/v1.',
      {
        failureRate: number(
          'The share of pull requests that fail, 0 to 1. An assumption before the first one is decided.',
        ),
        flakeRate: number('The share of runs that fail by chance, 0 to 1. An assumption at first.'),
        meanDurationSeconds: Type.Optional(number('How long a run that passes takes. Absent before the first one.')),
        groupSize: integer('How many untested pull requests are tested together.'),
        text: text('The same in words.'),
        unusedSettings: list(Type.String(), 'The settings that have no effect in this mode.'),
      },
    ),
  }),
};

const alarms = list(
  record('Alarm', 'Something an operator should hear about.', {
    at: instant('When it was raised.'),
    code: text(`Such as ${ALARM_CODES.join(', ')}.`),
    text: text('What happened, in words.'),
    endedAt: Type.Optional(instant('When what it was raised for was over. Absent while it goes on, or has no end.')),
  }),
  'Alarms of the last 7 days, newest first, at most 10. Not on /trunk/v1.',
);

const QueueConfig = record('QueueConfig', 'A queue and its settings.', {
  ...configFields,
  note: Type.Optional(text('That the request changed nothing, and why.')),
});

const Queue = record('Queue', 'A queue, its settings and what is in it.', {
  ...configFields,
  alarms: Type.Optional(alarms),
  forecast: Type.Optional(Forecast),
  enqueuedPullRequests: list(
    ListEntry,
    'Every live entry: those under test, passed or held, then the pending ones, then those not ready.',
  ),
  ...lookedBack,
  ...versioned,
});

const EXAMPLE_CONFIG = {
  state: 'RUNNING',
  branch: 'main',
  ...DEFAULT_SETTINGS,
  bisectionConcurrency: 5,
  testingTimeoutMinutes: 300,
  automaticSettings: ['bisectionConcurrency', 'testingTimeoutMinutes'],
};
const EXAMPLE_ALARM = {
  at: '2026-09-17T10:16:02.000Z',
  code: 'FOREIGN_PUSH',
  text: 'main was moved to 6f1c2d9a0b3e4f5a6b7c8d9e0f1a2b3c4d5e6f70 by somebody else. Everything under test starts again on it.',
};
const EXAMPLE_QUEUE_REPLY = { ...EXAMPLE_CONFIG, alarms: [], enqueuedPullRequests: [EXAMPLE_LIST_ENTRY] };

export const createQueue = operation('createQueue', {
  scope: 'admin',
  summary: 'Create a merge queue for a branch',
  description: 'Every setting can be given; those that are not have their defaults. The branch must exist.',
  isIdempotent: true,
  body: closed({ ...queueRef, ...settingInputs }),
  reply: Queue,
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_ALREADY_EXISTS', 'BRANCH_NOT_FOUND', 'FORGE_UNAVAILABLE'],
  example: {
    body: { ...EXAMPLE_QUEUE, mode: 'SINGLE', concurrency: 5 },
    reply: { ...EXAMPLE_QUEUE_REPLY, enqueuedPullRequests: [] },
  },
});

export const updateQueue = operation('updateQueue', {
  scope: 'maintain',
  openFields: ['repo', 'targetBranch', 'state', 'reason', 'until', 'addFreeze', 'removeFreeze'],
  summary: 'Change the settings or the state of a queue',
  description:
    'What is absent stays. A value out of range changes nothing at all. Changing the mode of a queue with pull requests in it first lets them land or leave (SWITCHING_MODES). With the scope maintain: state, reason, until, addFreeze and removeFreeze; the rest needs admin.',
  body: closed({
    ...queueRef,
    ...settingChanges,
    ...optional({
      reason: nameText(500, 'Why the state changes. Explanations and comments show it.'),
      until: inputInstant('With state PAUSED: when the queue goes on again.'),
      addFreeze: Freeze,
      removeFreeze: nameText(100, 'Removes the freeze of this name; freezes replaces all of them.'),
      deleteRequiredStatuses: boolean('Drop the override of the required statuses, as requiredStatuses: null does.'),
    }),
  }),
  reply: QueueConfig,
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'MODE_CHANGE_IN_PROGRESS', 'QUEUE_NOT_EMPTY'],
  example: {
    body: { ...EXAMPLE_QUEUE, concurrency: 8, state: 'PAUSED' },
    reply: { ...EXAMPLE_CONFIG, concurrency: 8, state: 'PAUSED' },
  },
});

const queueDetail = {
  includeExplanation: Type.Optional(boolean('Add to each of the first 100 entries why it is where it is, in words.')),
  includeForecast: Type.Optional(
    boolean('Add when each entry will land, and when a pull request would that is submitted now. Not with at.'),
  ),
};

export const getQueue = operation('getQueue', {
  scope: 'read',
  summary: 'Read the state and settings of a queue and the pull requests in it',
  description: 'The entries are listed in queue order.',
  isPolled: true,
  polledBy: 'pollQueue',
  body: Type.Object({ ...queueRef, ...queueDetail, ...lookingBack, ...polledAs('pollQueue') }),
  reply: Queue,
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'PAST_NOT_KEPT'],
  example: { body: EXAMPLE_QUEUE, reply: EXAMPLE_QUEUE_REPLY },
});

export const pollQueue = operation('pollQueue', {
  scope: 'read',
  summary: 'Read a queue again, if it changed',
  description:
    'As getQueue. With the version of the answer before, an answer that is still the same is not sent again.',
  isPolled: true,
  isOnlyOnV1: true,
  body: Type.Object({ ...queueRef, ...queueDetail, ...polled }),
  reply: Queue,
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: { body: { ...EXAMPLE_QUEUE, ifVersion: 'Bq2ZyJ0q3nU1dZ7mE1s8Qw' }, reply: EXAMPLE_QUEUE_REPLY },
});

export const listQueueMoments = operation('listQueueMoments', {
  scope: 'read',
  summary: 'List the instants at which a queue changed',
  description:
    'Oldest first. Between two of them, answers with at differ in nothing but what the clock says. Of a branch whose queue was deleted, those of the queue that stood at before.',
  body: closed({
    ...queueRef,
    ...optional({
      after: inputInstant('Only instants at or after this one.'),
      before: inputInstant('Only instants at or before this one. Now if it is absent.'),
      cursor: readAs(
        patternText('^[0-9]{1,15}$', 'The nextCursor of the page before.', 'must be the nextCursor of a page'),
        Number,
      ),
      limit: limitTo(200),
    }),
  }),
  reply: record('QueueMoments', 'A page of instants.', {
    moments: list(
      record('QueueMoment', 'The queue changed.', {
        at: instant('When. Later versions never have earlier instants.'),
        version: integer('The version that it has since.'),
      }),
      'One page.',
    ),
    since: Type.Optional(instant('The first instant of the queue that is kept.')),
    nextCursor: Type.Optional(text('Asks for the next page. Absent on the last one.')),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: {
    body: { ...EXAMPLE_QUEUE, after: '2026-09-17T10:00:00.000Z', limit: 2 },
    reply: {
      moments: [{ at: '2026-09-17T10:16:02.000Z', version: 812 }],
      since: '2026-09-01T08:00:00.000Z',
    },
  },
});

const EXAMPLE_REPLAYS = [
  { runsPerDecided: 1.1, ciHours: 57.2, p50Minutes: 12.5, p95Minutes: 34 },
  { runCost: 2, runsPerDecided: 0.42, ciHours: 21.8, p50Minutes: 12.1, p95Minutes: 27.4 },
];

const { mode, concurrency, optimizationMode, runCost } = settingChanges;
const triedSettings = { mode, concurrency, optimizationMode, runCost } as Record<string, TSchema>;

export const adviseQueue = operation('adviseQueue', {
  scope: 'read',
  summary: 'Compare the settings of a queue with others on its own history',
  description:
    'Replays the latest pull requests that a test decided, up to 500 of the last 90 days, in the simulator: with the present settings, and with ADAPTIVE at five values of runCost or with the settings that are given. Runs that fail by chance are not simulated.',
  body: Type.Object({
    ...queueRef,
    settings: Type.Optional(
      Type.Object(triedSettings, {
        description: 'Replay with these instead of with ADAPTIVE. Settings that are not named stay as they are.',
        additionalProperties: false,
      }),
    ),
  }),
  reply: record('QueueAdvice', 'How the history of a queue would have gone with other settings.', {
    decided: integer('How many pull requests were replayed.'),
    text: text('The advice in one sentence, or that too few pull requests were decided.'),
    replays: list(
      record('Replay', 'One run of the simulator.', {
        runCost: Type.Optional(number('Of ADAPTIVE. Absent with the present settings.')),
        runsPerDecided: number('CI runs for each pull request that landed or failed.'),
        ciHours: number('Hours of CI that all runs took together.'),
        p50Minutes: Type.Optional(number('Half of those that landed took at most this long. Absent if none landed.')),
        p95Minutes: Type.Optional(number('95 of 100 that landed took at most this long.')),
      }),
      'The present settings first, then ADAPTIVE by rising runCost, or the settings that were given. Empty if fewer than 30 were decided.',
    ),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: {
    body: EXAMPLE_QUEUE,
    reply: {
      decided: 312,
      text: 'ADAPTIVE with runCost 2 (balanced) needs 0.42 CI runs per pull request instead of 1.10 and lands 95 of 100 within 27 minutes instead of 34.',
      replays: EXAMPLE_REPLAYS,
    },
  },
});

export const deleteQueue = operation('deleteQueue', {
  scope: 'admin',
  summary: 'Delete an empty queue',
  description: 'Every pull request in it must first be cancelled or merged, those that are not ready too.',
  body: Type.Object(queueRef),
  reply: Empty,
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'QUEUE_NOT_EMPTY'],
  example: { body: EXAMPLE_QUEUE, reply: {} },
});

const counts = Object.fromEntries(LIVE_STATES.map((state) => [state, integer(`How many are ${state}.`)]));

export const listQueues = operation('listQueues', {
  scope: 'read',
  summary: 'List the queues of the organization',
  description: 'With repo, only those of one repository.',
  isPolled: true,
  body: Type.Object({ repo: Type.Optional(Repo), ...polled }),
  reply: record('QueueList', 'Queues, without what is in them.', {
    queues: list(
      record('QueueSummary', 'A queue, its settings and how many pull requests are in it.', {
        repo: Repo,
        ...configFields,
        alarms: Type.Optional(alarms),
        counts: object('Live entries by state.', counts),
      }),
      'Ordered by repository, then branch.',
    ),
    ...versioned,
  }),
  errors: ['REPOSITORY_NOT_FOUND'],
  example: {
    body: {},
    reply: {
      queues: [
        {
          repo: EXAMPLE_REPO,
          ...EXAMPLE_CONFIG,
          alarms: [EXAMPLE_ALARM],
          counts: { NOT_READY: 0, PENDING: 1, TESTING: 0, TESTS_PASSED: 0, PENDING_FAILURE: 0 },
        },
      ],
    },
  },
});

export const getMergeQueueMetrics = operation('getMergeQueueMetrics', {
  method: 'GET',
  scope: 'read',
  summary: 'Read metrics for monitoring',
  description:
    'In the Prometheus text exposition format. Without parameters, for all repositories of the organization. Series with _1h in their names describe the last hour.',
  body: Type.Object(
    {
      repo: Type.Optional(
        Type.String({
          maxLength: 511,
          pattern: '^[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+$',
          description: 'Only this repository, as owner/name; with repoHost.',
          'x-sluice-message': 'must be owner/name',
        }),
      ),
      repoHost: Type.Optional({ ...Repo.properties.host, description: 'Host of the repository; with repo.' }),
    },
    bothOrNone('repo', 'repoHost'),
  ),
  reply: text('Nine families of metrics; on /v1 also mq_alarms_total, mq_queue_held and metrics named sluice_.'),
  replyType: EXPOSITION_CONTENT_TYPE,
  errors: ['REPOSITORY_NOT_FOUND'],
  example: {
    body: { repo: 'acme/app', repoHost: 'local' },
    reply:
      '# HELP mq_depth_current Pull requests in the queue now, without those not admitted yet.\n# TYPE mq_depth_current gauge\nmq_depth_current{repo="acme/app",branch="main",queue_type="main",repo_host="local"} 1\n',
  },
});
