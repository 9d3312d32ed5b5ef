import { Type } from 'typebox';
import { EXAMPLE_QUEUE, queueRef } from './common.ts';
import { operation } from './operation.ts';
import { component, fixedEnum, inputInstant, instant, outputEnum } from './schema.ts';

const CheckRun = component(
  'CheckRun',
  Type.Object(
    {
      name: Type.String({ description: 'Name of the check.' }),
      url: Type.String({ description: 'Where its details are.' }),
      status: Type.Optional(fixedEnum(['QUEUED', 'IN_PROGRESS', 'COMPLETED'], 'How far it is.')),
      conclusion: Type.Optional(
        fixedEnum(
          ['ACTION_REQUIRED', 'CANCELLED', 'FAILURE', 'NEUTRAL', 'SUCCESS', 'SKIPPED', 'STALE', 'TIMED_OUT'],
          'How it ended; only once completed.',
        ),
      ),
    },
    { description: 'A check that reported on the test branch.' },
  ),
);

const StatusCheck = component(
  'StatusCheck',
  Type.Object(
    {
      context: Type.String({ description: 'Name of the status.' }),
      url: Type.Optional(Type.String({ description: 'Where its details are.' })),
      state: Type.Optional(fixedEnum(['ERROR', 'FAILURE', 'PENDING', 'SUCCESS'], 'What it says.')),
    },
    { description: 'A commit status on the test branch.' },
  ),
);

const TestRun = component(
  'TestRun',
  Type.Object(
    {
      testRunId: Type.Optional(Type.String({ description: 'Id of the test run.' })),
      requiredStatuses: Type.Array(Type.String(), { description: 'Names of the checks that must pass.' }),
      requiredStatusesSource: Type.Optional(
        outputEnum(
          ['TRUNK_CONFIG', 'REPO_PROVIDER_BRANCH_PROTECTION', 'MERGE_INSTANCE'],
          'Who says so: a file, the forge, or the queue.',
        ),
      ),
      testBranch: Type.String({ description: 'The branch that CI tests.' }),
      testBranchSha: Type.String({ description: 'Its commit.' }),
      createdAt: Type.Optional(instant('When the test run began.')),
      status: Type.Optional(outputEnum(['IN_PROGRESS', 'FAILED', 'CANCELLED', 'SUCCEEDED'], 'How it stands.')),
      checkSuites: Type.Array(
        Type.Object(
          { checkRuns: Type.Array(CheckRun, { description: 'The checks of the suite.' }) },
          { description: 'Checks that belong together.' },
        ),
        { description: 'Checks seen.' },
      ),
      statusChecks: Type.Array(StatusCheck, { description: 'Commit statuses seen.' }),
      testedPullRequests: Type.Array(
        Type.Object(
          {
            prNumber: Type.Integer({ description: 'Number.' }),
            prUrl: Type.String({ description: 'Link.' }),
            title: Type.String({ description: 'Title.' }),
          },
          { description: 'A pull request under test.' },
        ),
        { description: 'The pull requests under test; several in a batch.' },
      ),
      impactedTargets: Type.Optional(
        Type.Array(Type.String(), { description: 'Of all pull requests in the test branch.' }),
      ),
      impactedTargetsForTestedPrs: Type.Optional(
        Type.Array(Type.String(), { description: 'Of those under test only.' }),
      ),
      dependentPrs: Type.Optional(
        Type.Array(Type.Integer(), { description: 'Pull requests merged in beneath and not under test.' }),
      ),
    },
    { description: 'One candidate under test.' },
  ),
);

export const getMergeQueueTestingDetails = operation({
  name: 'getMergeQueueTestingDetails',
  method: 'POST',
  path: '/getMergeQueueTestingDetails',
  tag: 'Queues',
  scope: 'read',
  summary: 'Read details of testing in progress',
  description:
    'With testRunId (the last part of a test branch), that test run; without it, { testRuns }: every one in progress, in queue order.',
  body: Type.Object({
    ...queueRef,
    testRunId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'One test run; with or without -bisection at its end.',
      }),
    ),
  }),
  reply: Type.Union(
    [TestRun, Type.Object({ testRuns: Type.Array(TestRun, { description: 'Test runs in progress.' }) })],
    {
      description: 'One test run, or all of them.',
    },
  ),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  example: { body: EXAMPLE_QUEUE, reply: { testRuns: [] } },
});

export const listMergeQueueTestingResults = operation({
  name: 'listMergeQueueTestingResults',
  method: 'POST',
  path: '/listMergeQueueTestingResults',
  tag: 'Queues',
  scope: 'read',
  summary: 'List how testing ended, one row for each pull request and attempt',
  description: 'Newest first, at most 45 days. Tests still running are left out.',
  body: Type.Object({
    ...queueRef,
    since: inputInstant('Tests that ended at or after this instant, at most 45 days before until.'),
    until: Type.Optional(inputInstant('Tests that ended at or before this instant; now, if absent.')),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'How many to pass over.' }),
    ),
    take: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'How many at most.' })),
  }),
  reply: Type.Object({
    testingResults: Type.Array(
      component(
        'TestingResult',
        Type.Object(
          {
            prNumber: Type.Integer({ description: 'Number of the pull request.' }),
            endedAt: instant('When testing ended.'),
            testingDurationMs: Type.Integer({ description: 'How long it took, in whole seconds.' }),
            outcome: outputEnum(['PASSED', 'FAILED', 'INTERRUPTED', 'CANCELLED'], 'How testing ended.'),
            bisection: Type.Optional(
              outputEnum(['IN_BISECTION', 'ENTERED_BISECTION'], 'What it had to do with a bisection.'),
            ),
          },
          { description: 'One attempt to test one pull request.' },
        ),
      ),
      { description: 'One page.' },
    ),
    totalItems: Type.Integer({ description: 'How many there are in all.' }),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: {
    body: { ...EXAMPLE_QUEUE, since: '2026-09-10T00:00:00Z', until: '2026-09-18T00:00:00Z' },
    reply: {
      testingResults: [
        { prNumber: 7, endedAt: '2026-09-17T10:20:02.000Z', testingDurationMs: 240000, outcome: 'PASSED' },
      ],
      totalItems: 1,
    },
  },
});
