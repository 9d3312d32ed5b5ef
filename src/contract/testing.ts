import { Type } from 'typebox';
import { CHECK_STATUSES } from '../engine/model/check.ts';
import { QUARANTINE_VERDICTS } from '../engine/model/judgement.ts';
import { ENDED_STATES } from '../engine/model/queue.ts';
import { REQUIRED_SOURCES } from '../engine/model/required.ts';
import { commitId, EXAMPLE_QUEUE, EXAMPLE_REPO, queueRef, Repo } from './common.ts';
import { operationsOf } from './operation.ts';
import { lookedBack, lookingBack, polled, versioned } from './polled.ts';
import { CauseOut } from './result.ts';
import {
  boolean,
  exactlyOneOf,
  fixedEnum,
  inputEnum,
  inputInstant,
  instant,
  integer,
  limitTo,
  list,
  nullable,
  object,
  onlyWhen,
  optional,
  outputEnum,
  record,
  text,
  trimmedText,
  uuid,
} from './schema.ts';

const operation = operationsOf('Queues');

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

const RUN_STATUSES = ['IN_PROGRESS', 'FAILED', 'CANCELLED', 'SUCCEEDED'] as const;
const RUN_PURPOSES = ['LINE', 'SEARCH', 'HEAD', 'REPAIR', 'DIRECT'] as const;

const CheckQuarantine = record(
  'CheckQuarantine',
  'What quarantine makes of the failed tests of a required check (of a failed check: queue setting honorQuarantine).',
  {
    verdict: outputEnum(
      QUARANTINE_VERDICTS,
      'WAIVED: every failed test is excused, and the check counts as passed. REPEATED: failed tests are flaky and have not passed on this tree, so the test run is repeated. NOT_WAIVED: the check counts as failed. WOULD_BE_WAIVED, WOULD_BE_REPEATED, WOULD_NOT_BE_WAIVED: nothing follows from it, because the queue does not honor quarantine or the test run was decided before. PENDING: not known yet.',
    ),
    reason: Type.Optional(text('Why, as a sentence.')),
    failedTests: list(
      object('A test that failed.', {
        id: text('Id of the test.'),
        name: text('Its name.'),
        suites: Type.Optional(
          list(Type.String(), 'The suites in which it failed, at most 10; absent where one of them is not known.'),
        ),
        isExcused: boolean(
          'A person quarantined it, it passed in another run of the tree, or the check passed in spite of it.',
        ),
        reason: Type.Optional(text('Why it is not excused.')),
      }),
      'Tests that failed in the check, at most 1,000; those that are not excused first.',
    ),
    failedTestsTotal: integer('How many failed.'),
  },
);

export const CheckRun = record('CheckRun', 'A check that reported on the test branch.', {
  name: text('Name of the check.'),
  url: text('Where its details are; empty where nobody said.'),
  ...optional({
    status: fixedEnum(CHECK_STATUSES, 'How far it is.'),
    conclusion: fixedEnum(CONCLUSIONS, 'How it ended; only once completed.'),
    startedAt: instant('When this attempt began, where its reporter said so.'),
    summary: text('What its reporter had to say.'),
    quarantine: CheckQuarantine,
  }),
});

const StatusCheck = record('StatusCheck', 'A commit status on the test branch.', {
  context: text('Name of the status.'),
  url: Type.Optional(text('Where its details are.')),
  state: Type.Optional(fixedEnum(['ERROR', 'FAILURE', 'PENDING', 'SUCCESS'], 'What it says.')),
});

const TestRun = record('TestRun', 'One test run.', {
  testRunId: Type.Optional(uuid('Id of the test run.')),
  requiredStatuses: list(Type.String(), 'Names of the checks that must pass.'),
  requiredStatusesSource: Type.Optional(
    outputEnum(
      REQUIRED_SOURCES,
      'Who says so: a file, the forge (on plain git the registered checks), or the queue. Absent while not known.',
    ),
  ),
  testBranch: text('The branch that CI tests.'),
  testBranchSha: text('Its commit; empty while it is not built.'),
  createdAt: Type.Optional(instant('When the test run began.')),
  status: Type.Optional(outputEnum(RUN_STATUSES, 'How it stands. CANCELLED: abandoned before it was decided.')),
  checkSuites: list(
    object('Checks that belong together.', { checkRuns: list(CheckRun, 'The checks of the suite.') }),
    'Checks seen.',
  ),
  statusChecks: list(StatusCheck, 'Commit statuses seen.'),
  testedPullRequests: list(
    object('A pull request under test.', {
      prNumber: integer('Number.'),
      prUrl: text('Link.'),
      title: text('Title.'),
    }),
    'The pull requests under test; several in a batch.',
  ),
  ...optional({
    impactedTargets: list(
      Type.String(),
      'Of all pull requests in the test branch, where uploaded for each of them; ["ALL"] where one impacts everything. Left out also where there are more than can be shown.',
    ),
    impactedTargetsForTestedPrs: list(Type.String(), 'Of those under test only.'),
    dependentPrs: list(Type.Integer(), 'Pull requests merged in beneath and not under test.'),
    onTopOf: list(
      Type.Integer(),
      'Of dependentPrs, those that have not landed: what it is tested on top of now. Only with includeDecided.',
    ),
    purpose: outputEnum(
      RUN_PURPOSES,
      'LINE: in queue order. SEARCH: looks for the culprits of a failure, or ahead. HEAD: the target branch itself. REPAIR: one that may mend it. DIRECT: lands without a run. Only with includeDecided.',
    ),
    asked: list(
      Type.String(),
      'Names of the tests that it runs and no others, at most 5: it is a probe, which lands nothing. Only with includeDecided.',
    ),
    cause: CauseOut,
    reuses: uuid('The test run with the same tree, whose result counts for this one too. Only with includeDecided.'),
  }),
  ...lookedBack,
  ...versioned,
});

const Search = record('Search', 'A search for the pull requests that are to blame.', {
  suspects: list(Type.Integer(), 'Pull requests that may be to blame, in queue order.'),
  cleared: list(Type.Integer(), 'Those that are not: they passed in this search.'),
  isScout: boolean('Nothing failed yet: it tests ahead of the turn of its pull requests.'),
  testRunIds: list(Type.String(), 'Its test runs in progress.'),
});

const TestRuns = record('TestRuns', 'Every test run in progress.', {
  testRuns: list(TestRun, 'Test runs in progress.'),
  searches: Type.Optional(list(Search, 'Searches under way. Only with includeDecided.')),
  ...lookedBack,
  ...versioned,
});

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

export const getMergeQueueTestingDetails = operation('getMergeQueueTestingDetails', {
  scope: 'read',
  summary: 'Read details of testing in progress',
  description:
    'With testRunId (the last part of a test branch), that test run, also one that has ended; without it, { testRuns }: every one in progress, in queue order, those of bisections after the line.',
  isPolled: true,
  body: Type.Object({
    ...queueRef,
    testRunId: Type.Optional(TestRunId),
    includeDecided: Type.Optional(
      boolean('Without testRunId: also searches, and test runs that passed or failed and still matter.'),
    ),
    ...lookingBack,
    ...polled,
  }),
  reply: Type.Union([TestRun, TestRuns], {
    description: 'One test run, or all of them.',
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'TEST_RUN_NOT_FOUND', 'PAST_NOT_KEPT'],
  example: { body: EXAMPLE_QUEUE, reply: { testRuns: [EXAMPLE_TEST_RUN] } },
});

export const reportCheck = operation('reportCheck', {
  scope: 'report',
  summary: 'Report how a check of a test run stands',
  description:
    'For any CI that tests the branches of the queue. Reporting the same again changes nothing; of one check the newest attempt by startedAt counts and, without it, the first result. A report on a test run that has ended is recorded and changes nothing.',
  body: Type.Object(
    {
      repo: Repo,
      testRunId: Type.Optional(TestRunId),
      sha: Type.Optional(commitId('The tested commit, instead of testRunId.')),
      name: trimmedText(255, 'Name of the check, as it is required.'),
      status: inputEnum(
        [...CHECK_STATUSES, 'PENDING'],
        'How far it is. PENDING, a word of commit statuses, is the same as QUEUED.',
      ),
      ...optional({
        conclusion: inputEnum(
          [...CONCLUSIONS, 'ERROR'],
          'How it ended: required when COMPLETED, and only then. SUCCESS, NEUTRAL and SKIPPED pass; CANCELLED and STALE say nothing, and it is tried again; the others fail. ERROR, a word of commit statuses, is shown as FAILURE.',
        ),
        url: Type.String({
          maxLength: 2000,
          pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f/?#][^\\u0000-\\u0020\\u007f]*$',
          description: 'Where its details are.',
          'x-sluice-message': 'must be an http or https address of at most 2000 characters',
        }),
        summary: Type.String({
          maxLength: 4000,
          description: 'What there is to say about it.',
          'x-sluice-message': 'must be a text of at most 4000 characters',
        }),
        startedAt: inputInstant('When this attempt began.'),
      }),
    },
    { ...exactlyOneOf('testRunId', 'sha'), ...onlyWhen('conclusion', 'status', 'COMPLETED') },
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

/** The example with the fields of `getTestRunInfo`. */
const EXAMPLE_INFO = {
  testRunId: EXAMPLE_TEST_RUN.testRunId,
  repo: EXAMPLE_REPO,
  targetBranch: 'main',
  purpose: 'LINE',
  status: 'CANCELLED',
  isWanted: false,
  attempt: 1,
  baseSha: '2f1c7d0e5b6a8c9d0e1f2a3b4c5d6e7f8a9b0c1d',
  testBranch: EXAMPLE_TEST_RUN.testBranch,
  testBranchSha: EXAMPLE_TEST_RUN.testBranchSha,
  prNumbers: [7],
  dependentPrs: [5],
  createdAt: EXAMPLE_TEST_RUN.createdAt,
  scope: 'ALL',
  endedAt: '2026-09-17T10:18:41.000Z',
  endReason: 'PREREQUISITE_MERGE_ITEM_CANCELLED',
  endedByPr: 5,
};

const SCOPES = ['ALL', 'QUESTION'] as const;

const AskedTest = record('AskedTest', 'A test that a probe answers, as the reports of the check name it.', {
  id: text('Id of the test.'),
  check: text('The required check that it failed in.'),
  name: text('Name of the test.'),
  file: nullable('string', 'The file.'),
  classname: nullable('string', 'The class.'),
  parent: nullable('string', 'The suite.'),
  variant: text('The variant; empty if there is none.'),
});

export const getTestRunInfo = operation('getTestRunInfo', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Read what a test run tests, and whether its result is still wanted',
  description:
    'For a job of CI, which knows its branch or its commit and no target branch. The id of the test run is enough; a commit needs repo.',
  body: Type.Object(
    {
      repo: Type.Optional({ ...Repo, description: 'The repository; absent: wherever the test run is.' }),
      testRunId: Type.Optional(TestRunId),
      sha: Type.Optional(commitId('The tested commit, instead of testRunId.')),
    },
    exactlyOneOf('testRunId', 'sha'),
  ),
  reply: Type.Object({
    testRunId: uuid('Id of the test run.'),
    repo: Repo,
    targetBranch: text('The branch of the queue.'),
    purpose: outputEnum(RUN_PURPOSES, 'As in getMergeQueueTestingDetails.'),
    status: outputEnum(RUN_STATUSES, 'How it stands. CANCELLED: abandoned before it was decided.'),
    isWanted: boolean('False once it has ended and has not passed: no result of it changes anything then.'),
    attempt: integer('From 1: how many runs of the same pull requests on the same commits there are, with this one.'),
    baseSha: text('The commit of the target branch that it is built on.'),
    testBranch: text('The branch that CI tests.'),
    testBranchSha: text('Its commit; empty while it is not built.'),
    prNumbers: list(Type.Integer(), 'The pull requests under test; none where the target branch itself is.'),
    dependentPrs: list(Type.Integer(), 'Pull requests merged in beneath and not under test.'),
    createdAt: instant('When the test run began.'),
    scope: outputEnum(
      SCOPES,
      'ALL: every test runs. QUESTION: a probe, which answers the tests of the question alone and reports each check as "NAME (probe)".',
    ),
    ...optional({
      question: list(AskedTest, 'The tests that a probe answers.'),
      endedAt: instant('When it ended.'),
      endReason: text('Why, as a code of reasons.'),
      endedByPr: integer('The pull request that caused it, if one did.'),
    }),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  example: { body: { testRunId: EXAMPLE_TEST_RUN.testRunId }, reply: EXAMPLE_INFO },
});

export const listMergeQueueTestingResults = operation('listMergeQueueTestingResults', {
  scope: 'read',
  summary: 'List how testing ended, one row for each pull request and attempt',
  description: 'Newest first, at most 45 days. Tests still running are left out.',
  body: Type.Object({
    ...queueRef,
    since: inputInstant('Tests that ended at or after this instant, at most 45 days before until.'),
    ...optional({
      until: inputInstant('Tests that ended at or before this instant; now, if absent.'),
      offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'How many to pass over.' }),
      take: limitTo(100),
    }),
  }),
  reply: Type.Object({
    testingResults: list(
      record('TestingResult', 'One attempt to test one pull request.', {
        prNumber: integer('Number of the pull request.'),
        endedAt: instant('When testing ended.'),
        testingDurationMs: integer('How long it took, in whole seconds.'),
        outcome: outputEnum(['PASSED', 'FAILED', 'INTERRUPTED', 'CANCELLED'], 'How testing ended.'),
        ...optional({
          testRunId: uuid('The test run.'),
          cycleConclusion: outputEnum(
            ENDED_STATES,
            'How the stay in the queue that it belongs to ended; absent while it lasts.',
          ),
          bisection: outputEnum(
            ['IN_BISECTION', 'ENTERED_BISECTION'],
            'IN_BISECTION: it was a run of a bisection. ENTERED_BISECTION: its failure led into one.',
          ),
        }),
      }),
      'One page.',
    ),
    totalItems: integer('How many there are in all.'),
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
