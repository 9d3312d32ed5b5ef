import { type Static, Type } from 'typebox';
import { LANDED_KINDS } from '../engine/model/candidate.ts';
import { MERGEABILITIES } from '../engine/model/pull-request.ts';
import { ENTRY_STATES } from '../engine/model/queue.ts';
import { lookedBack, versioned } from './polled.ts';
import { BlameOut, CauseOut, Result } from './result.ts';
import {
  boolean,
  component,
  instant,
  integer,
  list,
  nullable,
  number,
  object,
  optional,
  outputCode,
  outputEnum,
  record,
  recursive,
  text,
  uuid,
} from './schema.ts';

export const EntryStateOut = component(
  'EntryState',
  outputEnum(
    ENTRY_STATES,
    'NOT_READY: submitted, and something it needs is missing. PENDING: admitted, waits for a slot. TESTING: a candidate with it is under test. TESTS_PASSED: waits for those ahead, or lands. PENDING_FAILURE: failed, and whose fault it is is not decided. MERGED, FAILED, CANCELLED: left the queue.',
  ),
);

const listFields = {
  id: Type.Optional(
    uuid(
      'Id of the entry (not of the pull request). It stays the same when the pull request is submitted again. Absent for a pull request that was never submitted.',
    ),
  ),
  state: Type.Optional(EntryStateOut),
  stateChangedAt: instant('When it entered this state.'),
  priorityValue: integer('Priority, 0 (first) to 255 (last).'),
  priorityName: text('Name of the priority: urgent, high, medium, low, or its number.'),
  usedDefaultPriorityName: Type.Optional(text('The default priority, when nobody asked for another.')),
  skipTheLine: boolean('Urgent: it goes to the front and interrupts running tests.'),
  noBatch: boolean('It is never tested in a batch with others.'),
  prNumber: integer('Pull request number.'),
  prTitle: text('Title of the pull request.'),
  prSha: text('Head commit of the pull request.'),
  prBaseBranch: text('Branch the pull request wants to be merged into.'),
  prAuthor: text('Author of the pull request.'),
};

const Readiness = record('Readiness', 'What the pull request needs before it is admitted, as far as it is there.', {
  hasImpactedTargets: boolean('Impacted targets were uploaded for the head commit.'),
  requiresImpactedTargets: boolean('The queue is parallel and cannot admit it without targets.'),
  doesBaseBranchMatch: boolean('The pull request targets the branch of the queue.'),
  gitHubMergeability: outputEnum(MERGEABILITIES, 'What the forge says: whether it can be merged.'),
});

const ImpactedTargetsInfo = record(
  'ImpactedTargetsInfo',
  'What was uploaded as the impacted targets of the head commit.',
  {
    impactsAll: boolean('It overlaps every other pull request.'),
    count: nullable('integer', 'How many targets; null where it impacts all.'),
    note: text('Where this comes from.'),
  },
);

const BelowOut = record('Below', 'A pull request that this one is built on.', {
  prNumber: integer('Its number.'),
  by: outputEnum(
    ['BASE', 'STATED', 'ANCESTOR'],
    'BASE: its head branch is the base of this one. STATED: the text of this one says Depends-On. ANCESTOR: this head contains its head, which blocks nothing.',
  ),
  isMerged: boolean('It is in the target branch.'),
});

const TimelineEntry = record('TimelineEntry', 'One change of state.', {
  at: instant('When.'),
  state: EntryStateOut,
  reason: outputCode('Why, as a stable code.'),
  text: text('Why, in words.'),
  ...optional({
    actor: text('Who did it, where somebody did: the name of a token.'),
    testRunId: uuid('The test run it has to do with.'),
    prNumber: integer('The other pull request that is the cause.'),
    checks: list(Type.String(), 'The required checks that failed.'),
  }),
});

export interface ExplanationReason {
  code: string;
  text: string;
  prNumber?: number;
  check?: string;
  testRunId?: string;
  since?: string;
  url?: string;
  reasons: ExplanationReason[];
}

const ExplanationReasonSchema = recursive<ExplanationReason>('ExplanationReason', (self) =>
  object('Why it is where it is.', {
    code: text('A stable code.'),
    text: text('The reason in words.'),
    ...optional({
      prNumber: integer('The pull request it has to do with.'),
      check: text('The check it has to do with.'),
      testRunId: uuid('The test run it has to do with.'),
      since: instant('Since when it is so.'),
      url: text('Where CI tells more.'),
    }),
    reasons: list(self, 'The reasons behind this one.'),
  }),
);

const ExplanationSchema = record('Explanation', 'Why the entry is where it is, in words.', {
  headline: text('Its state in a few words.'),
  summary: text('One sentence.'),
  position: Type.Optional(integer('Place in the queue, from 1; absent while not admitted.')),
  next: text('What happens next, or what the author does next.'),
  commands: list(Type.String(), 'Command lines to type next.'),
  reasons: list(ExplanationReasonSchema, 'Why, most important first.'),
});

export const Forecast = record(
  'Forecast',
  'When it will land, by playing the queue forward many times. Without enough runs to learn from there is only a text.',
  {
    text: text('In words.'),
    ...optional({
      isBeingMade: boolean('True for the first question about a queue. A second later there is a forecast.'),
      landsAtP50: instant('If it lands, then as likely before this instant as after it.'),
      landsAtP95: instant('If it lands, then 95 times of 100 before this instant.'),
      chanceToLand: number('How likely it lands, 0 to 1.'),
      basis: record('ForecastBasis', 'What the forecast was made from.', {
        samples: integer('How often the queue was played forward.'),
        runs: integer('How many past runs durations were drawn from.'),
        since: instant('The end of the oldest of these runs.'),
      }),
    }),
  },
);

export const ListEntry = record('ListEntry', 'An entry of a queue, in short.', {
  ...listFields,
  explanation: Type.Optional(ExplanationSchema),
  forecast: Type.Optional(Forecast),
});

const LandedSchema = record(
  'Landed',
  'The proof that what landed is what was tested, or with UNPROVEN that it is not.',
  {
    kind: outputEnum(
      LANDED_KINDS,
      'IDENTICAL: the tested commit itself. SAME_TREE: commits made again, with the tested tree. COMPOSED: the tested tree plus the paths of disjoint pull requests that landed meanwhile. PREFIX: merged by a forge before the last of its batch. UNPROVEN: merged by a forge onto something else than what was tested; an alarm says so.',
    ),
    sha: text("The pull request's own commit on the target branch."),
    tree: text('Its tree.'),
    pushedSha: text('Head of the target branch after the push, or the merge by the forge, that landed it.'),
    pushedTree: text('Its tree.'),
    testedSha: text('The commit that was tested.'),
    testedTree: text('Its tree.'),
    testRunId: uuid('The test run that landed.'),
    base: text('Head of the target branch before that push.'),
    composedWith: list(Type.Integer(), 'Pull requests that landed meanwhile and were not in the test run.'),
    excused: list(
      object('A required check with failed tests.', {
        check: text('Name of the check.'),
        conclusion: outputEnum(
          ['SUCCESS', 'FAILURE'],
          'FAILURE: the check failed, and counts as passed because every failed test is excused.',
        ),
        tests: list(
          object('A test that failed in it.', {
            id: text('Id.'),
            name: text('Name.'),
            suites: Type.Optional(list(text('A suite.'), 'The suites in which it failed, below the outermost one.')),
            excusedBy: outputEnum(
              ['PERSON', 'TEST_RUN', 'CHECK', 'NONE'],
              'PERSON: somebody quarantined it. TEST_RUN: it is flaky, and passed in another run of the same tree. CHECK: it is not quarantined, and the check passed in spite of it. NONE: it is flaky, and its report arrived after the landing; an alarm says so.',
            ),
            person: Type.Optional(text('Who quarantined it.')),
            testRunId: Type.Optional(uuid('The run in which it passed.')),
          }),
          'Every test that failed in the reports of the run, at most 1,000.',
        ),
      }),
      'Required checks of the run that landed in whose reports tests failed, and what excuses each of them.',
    ),
    waived: list(
      object('A required check that failed and was waived.', {
        check: text('Name of the check.'),
        tests: list(
          object('A quarantined test that failed.', { id: text('Id.'), name: text('Name.') }),
          'The quarantined tests that failed in it.',
        ),
      }),
      'Deprecated: those of excused whose conclusion is FAILURE. It goes with the next release.',
    ),
    at: instant('When.'),
  },
);

export const EntryRecord = record('Entry', "One pull request's stay in the queue.", {
  ...listFields,
  readiness: Type.Optional(Readiness),
  forceEnqueued: boolean('Sent past unmet readiness; always false.'),
  isCurrentlySubmittedToQueue: boolean('It is in the queue: not merged, failed or cancelled.'),
  impactedTargets: Type.Optional(ImpactedTargetsInfo),
  verifiedByTestRun: nullable('string', 'The test run whose pass it was merged on; null if none.'),
  ...optional({
    timeline: list(TimelineEntry, 'Every change of state, newest first.'),
    explanation: ExplanationSchema,
    forecast: Forecast,
    landed: LandedSchema,
    cause: CauseOut,
    blame: BlameOut,
    result: Result,
    lostAt: instant('When the branch was rewritten without what landed. Absent: the branch has it.'),
    dependsOn: list(BelowOut, 'The pull requests that it is built on, directly.'),
    dependents: list(Type.Integer(), 'The pull requests in the queue that are built on it, directly.'),
    waitsFor: list(Type.String(), 'Addresses of the pull requests of other repositories that it waits for.'),
    submittedBy: record('Submitter', 'Who submitted it.', {
      name: text('The name of the token, or of the account at the forge.'),
      isAgent: boolean('It is a program that writes pull requests: a token made for an agent, or a bot of the forge.'),
    }),
    note: text('After an act: what it did not change, and why.'),
  }),
  ...lookedBack,
  ...versioned,
});

export type EntryRecord = Static<typeof EntryRecord>;

export const EXAMPLE_LIST_ENTRY = {
  id: '6f0a1f5e-8f0b-4a53-9c3e-2f3f4b1f7a10',
  state: 'PENDING',
  stateChangedAt: '2026-09-17T10:16:02.000Z',
  priorityValue: 100,
  priorityName: 'medium',
  usedDefaultPriorityName: 'medium',
  skipTheLine: false,
  noBatch: false,
  prNumber: 7,
  prTitle: 'Teach the parser about tabs',
  prSha: '3b18e512dba79e4c8300dd08aeb37f8e728b8dad',
  prBaseBranch: 'main',
  prAuthor: 'Ada',
};

export const EXAMPLE_RECORD = {
  ...EXAMPLE_LIST_ENTRY,
  readiness: {
    hasImpactedTargets: false,
    requiresImpactedTargets: false,
    doesBaseBranchMatch: true,
    gitHubMergeability: 'MERGEABLE',
  },
  forceEnqueued: false,
  isCurrentlySubmittedToQueue: true,
  verifiedByTestRun: null,
};

const TESTED = { sha: '9c1185a5c5e9fc54612808977ee8f548b2258d31', tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' };

export const EXAMPLE_LANDED_RECORD = {
  ...EXAMPLE_RECORD,
  state: 'MERGED',
  stateChangedAt: '2026-09-17T10:20:04.000Z',
  isCurrentlySubmittedToQueue: false,
  verifiedByTestRun: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
  timeline: [
    {
      at: '2026-09-17T10:20:04.000Z',
      state: 'MERGED',
      reason: 'MERGE_GRAPH_MERGE',
      text: 'Landed on main. Its commit 9c1185a5c5e9 is exactly the one that was tested.',
      testRunId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
    },
  ],
  landed: {
    kind: 'IDENTICAL',
    ...TESTED,
    pushedSha: TESTED.sha,
    pushedTree: TESTED.tree,
    testedSha: TESTED.sha,
    testedTree: TESTED.tree,
    testRunId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
    base: 'e0b9828b9a780b0e40ca8f3ef78420ee5c332510',
    composedWith: [],
    excused: [],
    waived: [],
    at: '2026-09-17T10:20:04.000Z',
  },
};
