import { Type } from 'typebox';
import { CHECK_STATUSES } from '../engine/check.ts';
import { QUARANTINE_VERDICTS } from '../engine/judgement.ts';
import { ENDED_STATES } from '../engine/queue.ts';
import { REQUIRED_SOURCES } from '../engine/required.ts';
import { EXAMPLE_QUEUE, EXAMPLE_REPO, queueRef, Repo } from './common.ts';
import { operation } from './operation.ts';
import { component, fixedEnum, inputEnum, inputInstant, instant, outputEnum, trimmedText, uuid } from './schema.ts';

const CONCLUSIONS = [
  'ACTION_REQUIRED',
  'CANCELLED',
  'FAILURE',
  'NEUTRAL',
  'SUCCESS',
  'SKIPPED',
  'STALE',
  'TIMED_OUT',
] as const;

const CheckQuarantine = component(
  'CheckQuarantine',
  Type.Object(
    {
      verdict: outputEnum(
        QUARANTINE_VERDICTS,
        'WAIVED: only quarantined tests failed, and the check counts as passed. WOULD_BE_WAIVED, WOULD_NOT_BE_WAIVED: nothing follows from it, because the queue does not honor quarantine or the test run was decided before. PENDING: not known yet.',
      ),
      reason: Type.Optional(Type.String({ description: 'Why, as a sentence.' })),
      failedTests: Type.Array(
        Type.Object(
          {
            id: Type.String({ description: 'Id of the test.' }),
            name: Type.String({ description: 'Its name.' }),
            isExcused: Type.Boolean({ description: 'It was quarantined before, for what others saw of it.' }),
            reason: Type.Optional(Type.String({ description: 'Why it is not excused.' })),
          },
          { description: 'A test that failed.' },
        ),
        { description: 'Tests that failed in the check, at most 1,000; those that are not excused first.' },
      ),
      failedTestsTotal: Type.Integer({ description: 'How many failed.' }),
    },
    { description: 'What quarantine makes of the failure of a required check (queue setting honorQuarantine).' },
  ),
);

export const CheckRun = component(
  'CheckRun',
  Type.Object(
    {
      name: Type.String({ description: 'Name of the check.' }),
      url: Type.String({ description: 'Where its details are; empty where nobody said.' }),
      status: Type.Optional(fixedEnum(CHECK_STATUSES, 'How far it is.')),
      conclusion: Type.Optional(fixedEnum(CONCLUSIONS, 'How it ended; only once completed.')),
      startedAt: Type.Optional(instant('When this attempt began, where its reporter said so.')),
      summary: Type.Optional(Type.String({ description: 'What its reporter had to say.' })),
      quarantine: Type.Optional(CheckQuarantine),
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
      testRunId: Type.Optional(uuid('Id of the test run.')),
      requiredStatuses: Type.Array(Type.String(), { description: 'Names of the checks that must pass.' }),
      requiredStatusesSource: Type.Optional(
        outputEnum(
          REQUIRED_SOURCES,
          'Who says so: a file, the forge (on plain git the registered checks), or the queue. Absent while not known.',
        ),
      ),
      testBranch: Type.String({ description: 'The branch that CI tests.' }),
      testBranchSha: Type.String({ description: 'Its commit; empty while it is not built.' }),
      createdAt: Type.Optional(instant('When the test run began.')),
      status: Type.Optional(
        outputEnum(
          ['IN_PROGRESS', 'FAILED', 'CANCELLED', 'SUCCEEDED'],
          'How it stands. CANCELLED: abandoned before it was decided.',
        ),
      ),
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
        Type.Array(Type.String(), {
          description:
            'Of all pull requests in the test branch, where uploaded for each of them; ["ALL"] where one impacts everything. Left out also where there are more than can be shown.',
        }),
      ),
      impactedTargetsForTestedPrs: Type.Optional(
        Type.Array(Type.String(), { description: 'Of those under test only.' }),
      ),
      dependentPrs: Type.Optional(
        Type.Array(Type.Integer(), { description: 'Pull requests merged in beneath and not under test.' }),
      ),
    },
    { description: 'One test run.' },
  ),
);

export const TestRunId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The test run: the last part of its test branch, with or without -bisection at its end.',
});

export const EXAMPLE_TEST_RUN = {
  testRunId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
  requiredStatuses: ['test'],
  requiredStatusesSource: 'MERGE_INSTANCE',
  testBranch: 'sluice/pr-7/0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
  testBranchSha: '9c1185a5c5e9fc54612808977ee8f548b2258d31',
  createdAt: '2026-09-17T10:16:02.000Z',
  status: 'IN_PROGRESS',
  checkSuites: [{ checkRuns: [{ name: 'test', url: 'https://ci.example.com/runs/81', status: 'IN_PROGRESS' }] }],
  statusChecks: [],
  testedPullRequests: [{ prNumber: 7, prUrl: 'refs/pull/7/head', title: 'Teach the parser about tabs' }],
  dependentPrs: [5],
};

export const getMergeQueueTestingDetails = operation({
  name: 'getMergeQueueTestingDetails',
  tag: 'Queues',
  scope: 'read',
  summary: 'Read details of testing in progress',
  description:
    'With testRunId (the last part of a test branch), that test run, also one that has ended; without it, { testRuns }: every one in progress, in queue order, those of bisections after the line.',
  body: Type.Object({ ...queueRef, testRunId: Type.Optional(TestRunId) }),
  reply: Type.Union(
    [TestRun, Type.Object({ testRuns: Type.Array(TestRun, { description: 'Test runs in progress.' }) })],
    {
      description: 'One test run, or all of them.',
    },
  ),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  example: { body: EXAMPLE_QUEUE, reply: { testRuns: [EXAMPLE_TEST_RUN] } },
});

const aloneOf = (name: string, other: string) => ({
  required: [name],
  not: { properties: { [other]: {} }, required: [other] },
  'x-sluice-message': 'must have exactly one of testRunId and sha',
});

export const reportCheck = operation({
  name: 'reportCheck',
  tag: 'Queues',
  scope: 'report',
  summary: 'Report how a check of a test run stands',
  description:
    'For any CI that tests the branches of the queue. Reporting the same again changes nothing; of one check the newest attempt by startedAt counts and, without it, the first result. A report on a test run that has ended is recorded and changes nothing.',
  body: Type.Object(
    {
      repo: Repo,
      testRunId: Type.Optional(TestRunId),
      sha: Type.Optional(
        Type.String({
          pattern: '^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$',
          description: 'The tested commit, instead of testRunId.',
          'x-sluice-message': 'must be a whole commit id of 40 or 64 hexadecimal digits',
        }),
      ),
      name: trimmedText(255, 'Name of the check, as it is required.'),
      status: inputEnum(
        [...CHECK_STATUSES, 'PENDING'],
        'How far it is. PENDING, a word of commit statuses, is the same as QUEUED.',
      ),
      conclusion: Type.Optional(
        inputEnum(
          [...CONCLUSIONS, 'ERROR'],
          'How it ended: required when COMPLETED, and only then. SUCCESS, NEUTRAL and SKIPPED pass; CANCELLED and STALE say nothing, and it is tried again; the others fail. ERROR, a word of commit statuses, is shown as FAILURE.',
        ),
      ),
      url: Type.Optional(
        Type.String({
          maxLength: 2000,
          pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f/?#][^\\u0000-\\u0020\\u007f]*$',
          description: 'Where its details are.',
          'x-sluice-message': 'must be an http or https address of at most 2000 characters',
        }),
      ),
      summary: Type.Optional(
        Type.String({
          maxLength: 4000,
          description: 'What there is to say about it.',
          'x-sluice-message': 'must be a text of at most 4000 characters',
        }),
      ),
      startedAt: Type.Optional(inputInstant('When this attempt began.')),
    },
    { anyOf: [aloneOf('testRunId', 'sha'), aloneOf('sha', 'testRunId')] },
  ),
  reply: TestRun,
  errors: ['REPOSITORY_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  example: {
    body: {
      repo: EXAMPLE_REPO,
      testRunId: EXAMPLE_TEST_RUN.testRunId,
      name: 'test',
      status: 'COMPLETED',
      conclusion: 'SUCCESS',
      url: 'https://ci.example.com/runs/81',
    },
    reply: {
      ...EXAMPLE_TEST_RUN,
      status: 'SUCCEEDED',
      checkSuites: [
        {
          checkRuns: [
            { name: 'test', url: 'https://ci.example.com/runs/81', status: 'COMPLETED', conclusion: 'SUCCESS' },
          ],
        },
      ],
    },
  },
});

export const listMergeQueueTestingResults = operation({
  name: 'listMergeQueueTestingResults',
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
            testRunId: Type.Optional(uuid('The test run.')),
            cycleConclusion: Type.Optional(
              outputEnum(ENDED_STATES, 'How the stay in the queue that it belongs to ended; absent while it lasts.'),
            ),
            bisection: Type.Optional(
              outputEnum(
                ['IN_BISECTION', 'ENTERED_BISECTION'],
                'IN_BISECTION: it was a run of a bisection. ENTERED_BISECTION: its failure led into one.',
              ),
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
        {
          prNumber: 7,
          endedAt: '2026-09-17T10:20:02.000Z',
          testingDurationMs: 240000,
          outcome: 'PASSED',
          testRunId: EXAMPLE_TEST_RUN.testRunId,
          cycleConclusion: 'MERGED',
        },
      ],
      totalItems: 1,
    },
  },
});
