import { Type } from 'typebox';
import { ENTRY_STATES } from '../engine/model/queue.ts';
import { BulkResults, ONE_OR_SEVERAL, oneOrSeveral } from './bulk.ts';
import { commitId, EXAMPLE_ENTRY, EXAMPLE_QUEUE, entryRef, Pr, PrNumber, queueRef } from './common.ts';
import {
  EntryRecord,
  EntryStateOut,
  EXAMPLE_LANDED_RECORD,
  EXAMPLE_LIST_ENTRY,
  EXAMPLE_RECORD,
  ListEntry,
} from './entry.ts';
import { operationsOf } from './operation.ts';
import { lookingBack, polled, polledAs, versioned } from './polled.ts';
import {
  boolean,
  component,
  exactlyOneOf,
  inputEnum,
  inputInstant,
  inputUuid,
  integer,
  limitTo,
  list,
  object,
  optional,
  outputEnum,
  readAs,
  record,
  text,
  uuid,
} from './schema.ts';

const operation = operationsOf('Pull requests');

const NOT_FOUND = ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND'] as const;

const PrAtHead = record('PrAtHead', 'The pull request.', {
  number: PrNumber,
  sha: Type.Optional(
    commitId('The head commit that is meant: at another one, nothing is submitted. Absent: the present head.'),
  ),
});

const submission = optional({
  priority: Type.Union(
    [
      Type.Integer({ minimum: 0, maximum: 255 }),
      Type.String({
        minLength: 1,
        maxLength: 10,
        pattern:
          '^(?:[Uu][Rr][Gg][Ee][Nn][Tt]|[Hh][Ii][Gg][Hh]|[Mm][Ee][Dd][Ii][Uu][Mm]|[Ll][Oo][Ww]|1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])$',
      }),
      Type.Null(),
    ],
    {
      description:
        'urgent (0), high (10), medium (100, the default), low (200), or a number from 0 (first) to 255 (last). Urgent interrupts running tests. Absent: as it is.',
      'x-sluice-message': 'must be urgent, high, medium, low, or a whole number from 0 (first) to 255 (last)',
    },
  ),
  noBatch: boolean('Keep this pull request out of batches. Absent: as it is.'),
  repair: boolean(
    'It repairs a target branch that is broken: while the queue holds for that, it is tested alone on the head and lands if it passes. One that is submitted after the hold began needs no such word. Absent: as it is.',
  ),
});

const onlySubmission = optional({
  force: boolean('Take it also where the queue refuses what failed and is unchanged (refuseUnchanged).'),
  submitStack: boolean(
    'Submit the pull requests that it is based on too, all of them or none, each at its present head and by the rights of the caller. What a text names with Depends-On is not submitted. Absent: false, and it waits for them.',
  ),
});

export const submitPullRequest = operation('submitPullRequest', {
  scope: 'submit',
  summary: 'Submit a pull request to the queue for testing and merging',
  description:
    'The pull request enters as NOT_READY and is admitted automatically as soon as it can be merged and, in a parallel queue, its impacted targets are there. Submitting one that is in the queue changes its priority and noBatch. A paused or draining queue accepts it and admits it later.',
  isIdempotent: true,
  body: Type.Object({ ...queueRef, ...oneOrSeveral(PrAtHead), ...submission, ...onlySubmission }, ONE_OR_SEVERAL),
  reply: EntryRecord,
  bulkReply: BulkResults,
  errors: [
    ...([...NOT_FOUND, 'PULL_REQUEST_NOT_ENQUEUEABLE', 'PULL_REQUEST_LANDING', 'FORGE_UNAVAILABLE'] as const),
    'UNCHANGED_SINCE_FAILURE',
  ],
  example: { body: { ...EXAMPLE_ENTRY, priority: 'high' }, reply: EXAMPLE_RECORD },
});

export const previewSubmission = operation('previewSubmission', {
  scope: 'submit',
  isOnlyOnV1: true,
  summary: 'Say what a submission would do',
  description:
    'Takes what submitPullRequest takes for one pull request, and changes nothing. It tells of the queue as it is now.',
  body: Type.Object({ ...queueRef, pr: PrAtHead, ...submission }),
  reply: record('SubmissionPreview', 'What a submission would do.', {
    prNumber: integer('Number of the pull request.'),
    state: Type.Optional(EntryStateOut),
    interruptedRuns: integer('How many test runs in progress would end without a result.'),
    testedAgain: list(Type.Integer(), 'Other pull requests that would be tested again.'),
    text: text('The same in words.'),
  }),
  errors: [...NOT_FOUND, 'PULL_REQUEST_NOT_ENQUEUEABLE', 'PULL_REQUEST_LANDING', 'FORGE_UNAVAILABLE'],
  example: {
    body: { ...EXAMPLE_ENTRY, priority: 'urgent' },
    reply: {
      ...{ prNumber: 7, state: 'TESTING', interruptedRuns: 1, testedAgain: [5] },
      text: 'It is tested at once, on main. 1 run ends before the result. Tested again behind it: #5.',
    },
  },
});

export const cancelPullRequest = operation('cancelPullRequest', {
  scope: 'submit',
  summary: 'Remove a pull request from the queue',
  description: 'Cancelling one that is cancelled changes nothing. One that is merged or failed cannot be cancelled.',
  body: Type.Object({ ...queueRef, ...oneOrSeveral(Pr) }, ONE_OR_SEVERAL),
  reply: EntryRecord,
  bulkReply: BulkResults,
  errors: [...NOT_FOUND, 'PULL_REQUEST_NOT_IN_QUEUE'],
  example: {
    body: EXAMPLE_ENTRY,
    reply: { ...EXAMPLE_RECORD, state: 'CANCELLED', isCurrentlySubmittedToQueue: false },
  },
});

export const restartTestsOnPullRequest = operation('restartTestsOnPullRequest', {
  scope: 'submit',
  summary: 'Test a pull request in the queue again',
  description: 'Only while it is TESTING or PENDING_FAILURE. It keeps its place, and nobody else is tested again.',
  body: Type.Object(entryRef),
  reply: EntryRecord,
  errors: [...NOT_FOUND, 'PULL_REQUEST_NOT_IN_QUEUE', 'TESTS_NOT_RESTARTABLE'],
  example: { body: EXAMPLE_ENTRY, reply: { ...EXAMPLE_RECORD, state: 'TESTING' } },
});

const detail = optional({
  includeTimeline: boolean('Add every change of state, newest first.'),
  includeExplanation: boolean('Add why it is where it is, in words.'),
  includeForecast: boolean('Add when it will land. Not with at.'),
  includeResult: boolean(
    'Add what came of it, for programs: the outcome, who can act, the next step, and what failed.',
  ),
});

const Branch = Type.String({ minLength: 1, maxLength: 255, description: 'Head branch of the pull request.' });

const PrOrBranch = component(
  'PrOrBranch',
  Type.Object(optional({ number: PrNumber, branch: Branch }), {
    ...exactlyOneOf('number', 'branch'),
    description: 'The pull request, by number or by head branch: exactly one of them.',
  }),
);

export const findPullRequest = operation('findPullRequest', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Find a pull request that may be submitted',
  description:
    'As it is at the forge now, also if it was never submitted. Without pr, it tells which number a new one gets on plain git.',
  body: Type.Object({ ...queueRef, pr: Type.Optional(PrOrBranch) }),
  reply: record('FoundPullRequest', 'A pull request at the forge.', {
    ...optional({
      prNumber: integer('Its number.'),
      prSha: text('Its head commit.'),
      prTitle: text('Its title.'),
      prUrl: text('Its page.'),
      highestNumber: integer('The highest number that was ever submitted to a queue of the repository; 0: none.'),
    }),
  }),
  errors: [...NOT_FOUND, 'FORGE_UNAVAILABLE'],
  example: {
    body: { ...EXAMPLE_QUEUE, pr: { branch: 'tabs' } },
    reply: { prNumber: 7, prSha: EXAMPLE_LIST_ENTRY.prSha, prTitle: EXAMPLE_LIST_ENTRY.prTitle },
  },
});

export const getSubmittedPullRequest = operation('getSubmittedPullRequest', {
  scope: 'read',
  summary: 'Read the status of a submitted pull request',
  description: 'By its number or, on forges where pull requests have one, by its head branch.',
  isPolled: true,
  polledBy: 'pollPullRequest',
  body: Type.Object({
    ...queueRef,
    pr: PrOrBranch,
    ...detail,
    ...lookingBack,
    ...polledAs('pollPullRequest'),
  }),
  reply: EntryRecord,
  errors: [...NOT_FOUND, 'PAST_NOT_KEPT', 'FORGE_UNAVAILABLE'],
  example: { body: { ...EXAMPLE_ENTRY, includeTimeline: true }, reply: EXAMPLE_LANDED_RECORD },
});

export const pollPullRequest = operation('pollPullRequest', {
  scope: 'read',
  summary: 'Read the status of a submitted pull request again, if it changed',
  description:
    'As getSubmittedPullRequest. With the version of the answer before, an answer that is still the same is not sent again.',
  isPolled: true,
  isOnlyOnV1: true,
  body: Type.Object({ ...queueRef, pr: PrOrBranch, ...detail, ...polled }),
  reply: EntryRecord,
  errors: [...NOT_FOUND, 'FORGE_UNAVAILABLE'],
  example: { body: { ...EXAMPLE_ENTRY, ifVersion: 'Bq2ZyJ0q3nU1dZ7mE1s8Qw' }, reply: EXAMPLE_RECORD },
});

export const getSubmittedPullRequests = operation('getSubmittedPullRequests', {
  scope: 'read',
  summary: 'Read the status of several submitted pull requests',
  description: 'Pull requests that were never submitted are listed in notFound and are no error.',
  isPolled: true,
  body: Type.Object({
    ...queueRef,
    prs: Type.Array(object('A pull request.', { number: PrNumber }), {
      minItems: 1,
      maxItems: 50,
      description: 'The pull requests, at most 50.',
    }),
    ...detail,
    ...polled,
  }),
  reply: record('SubmittedPullRequests', 'Several entries.', {
    pullRequests: list(EntryRecord, 'Those that were submitted, in the order asked for.'),
    notFound: list(Type.Integer(), 'Numbers of those that never were.'),
    ...versioned,
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: {
    body: { ...EXAMPLE_QUEUE, prs: [{ number: 7 }, { number: 8 }] },
    reply: { pullRequests: [EXAMPLE_RECORD], notFound: [8] },
  },
});

export const listPullRequests = operation('listPullRequests', {
  scope: 'read',
  summary: 'List pull requests that are or were in the queue',
  description:
    'Latest submission first. With since or until, those that left the queue in that time, also when they were submitted again afterwards.',
  isPolled: true,
  body: Type.Object({
    ...queueRef,
    ...optional({
      state: component('EntryState', inputEnum(ENTRY_STATES, 'Only those in this state.')),
      since: inputInstant('Only those that left the queue at or after this instant.'),
      until: inputInstant('Only those that left the queue at or before this instant.'),
      cursor: inputUuid('Continue where the page that answered this nextCursor ended.'),
      take: limitTo(100),
    }),
    includeExplanation: detail.includeExplanation,
    includeForecast: detail.includeForecast,
    ...polled,
  }),
  reply: record('PullRequestPage', 'A page of entries.', {
    pullRequests: list(ListEntry, 'One page.'),
    nextCursor: Type.Optional(uuid('Asks for the next page; absent on the last.')),
    ...versioned,
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: { body: { ...EXAMPLE_QUEUE, state: 'PENDING', take: 10 }, reply: { pullRequests: [EXAMPLE_LIST_ENTRY] } },
});

const PlacedFile = record('PlacedFile', 'A changed file, by its old or its new name.', {
  path: text('Its name.'),
  impactsAll: boolean('It impacts everything.'),
  targets: list(Type.String(), 'The targets that it gives by itself.'),
  text: text('The reason in words.'),
});

export const explainImpactedTargets = operation('explainImpactedTargets', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Say which file of a pull request gives which target',
  description:
    'Computes the targets of its present head by `targets` in .sluice.yaml of the target branch, for any open pull request and in any mode, and changes nothing.',
  body: Type.Object({ ...queueRef, pr: Pr }),
  reply: record('TargetsExplanation', 'The impacted targets of a pull request, and where they come from.', {
    prNumber: integer('Number of the pull request.'),
    prSha: text('The head commit that it is about.'),
    source: outputEnum(
      ['UPLOADED', 'COMPUTED', 'NONE'],
      'Where the targets come from that count. NONE: none are uploaded, and the target branch has no rules.',
    ),
    impactsAll: boolean('It overlaps every other pull request.'),
    targets: list(Type.String(), 'The targets that count, at most 1,000.'),
    count: integer('How many there are.'),
    text: text('The same in words.'),
    fileCount: integer('How many files it changes; 0 if there are no rules to read them for.'),
    files: list(PlacedFile, 'At most 1,000 of them, those that impact everything first.'),
    dependents: list(
      record('TargetDependents', 'A package that it changes, with those that need it.', {
        target: text('The package.'),
        names: list(Type.String(), 'The packages that depend on it, also over others.'),
      }),
      'Empty where nothing depends on what it changes.',
    ),
  }),
  errors: [...NOT_FOUND, 'FORGE_UNAVAILABLE'],
  example: {
    body: EXAMPLE_ENTRY,
    reply: {
      ...{ prNumber: 7, prSha: '3b18e512dba79e4c8300dd08aeb37f8e728b8dad', source: 'COMPUTED', impactsAll: false },
      ...{ targets: ['@acme/ui', '@acme/web'], count: 2, fileCount: 1 },
      text: 'Computed from the changed files by .sluice.yaml on the target branch.',
      files: [
        {
          ...{ path: 'packages/ui/button.ts', impactsAll: false, targets: ['@acme/ui'] },
          text: '@acme/ui (the package in packages/ui)',
        },
      ],
      dependents: [{ target: '@acme/ui', names: ['@acme/web'] }],
    },
  },
});

export const setImpactedTargets = operation('setImpactedTargets', {
  scope: 'targets',
  summary: 'Set the impacted targets of a pull request',
  description:
    "For parallel queues. May come before the pull request is submitted; the last upload for a head commit counts, except that a fork's never replaces one that came with a token. More than 100,000 targets count as ALL.\n\nCI of a fork has no token: on GitHub it sends the id of its own run in `x-forked-workflow-run-id` instead, and `pr.sha`. That run must be alive, started by `pull_request` in this repository, and for this pull request at this commit.",
  isForForks: true,
  longList: { key: 'impactedTargets', fields: 0 },
  body: Type.Object({
    ...queueRef,
    pr: object('The pull request.', {
      number: PrNumber,
      sha: Type.Optional(commitId('The head commit the targets were computed for. Absent: the present head.')),
    }),
    impactedTargets: Type.Union(
      [
        Type.Array(Type.String({ maxLength: 10_000, description: 'A target.' })),
        readAs(
          Type.Unsafe<'ALL' | 'IMPACTS_ALL'>({ type: 'string', enum: ['ALL', 'IMPACTS_ALL'] }),
          () => 'ALL' as const,
        ),
      ],
      {
        description: 'The targets, or ALL. An empty list says that nothing is impacted.',
        'x-sluice-message': 'must be a list of texts of at most 10,000 characters, or "ALL"',
      },
    ),
  }),
  reply: EntryRecord,
  errors: [...NOT_FOUND, 'FORK_RUN_NOT_PROVEN', 'FORGE_UNAVAILABLE'],
  example: {
    body: {
      ...EXAMPLE_QUEUE,
      pr: { number: 7, sha: '3b18e512dba79e4c8300dd08aeb37f8e728b8dad' },
      impactedTargets: ['//app:lib', '//app:server'],
    },
    reply: {
      ...EXAMPLE_RECORD,
      impactedTargets: { impactsAll: false, count: 2, note: 'As uploaded for the head commit.' },
    },
  },
});
