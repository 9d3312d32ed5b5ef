import { type Static, Type } from 'typebox';
import { MERGEABILITIES } from '../../engine/pull-request.ts';
import { ENTRY_STATES } from '../../engine/queue.ts';
import { component, instant, nullable, outputEnum, uuid } from './schema.ts';

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
  priorityValue: Type.Integer({ description: 'Priority, 0 (first) to 255 (last).' }),
  priorityName: Type.String({ description: 'Name of the priority: urgent, high, medium, low, or its number.' }),
  usedDefaultPriorityName: Type.Optional(
    Type.String({ description: 'The default priority, when nobody asked for another.' }),
  ),
  skipTheLine: Type.Boolean({ description: 'Urgent: it goes to the front and interrupts running tests.' }),
  noBatch: Type.Boolean({ description: 'It is never tested in a batch with others.' }),
  prNumber: Type.Integer({ description: 'Pull request number.' }),
  prTitle: Type.String({ description: 'Title of the pull request.' }),
  prSha: Type.String({ description: 'Head commit of the pull request.' }),
  prBaseBranch: Type.String({ description: 'Branch the pull request wants to be merged into.' }),
  prAuthor: Type.String({ description: 'Author of the pull request.' }),
};

export const ListEntry = component(
  'ListEntry',
  Type.Object(listFields, { description: 'An entry of a queue, in short.' }),
);

const Readiness = component(
  'Readiness',
  Type.Object(
    {
      hasImpactedTargets: Type.Boolean({ description: 'Impacted targets were uploaded for the head commit.' }),
      requiresImpactedTargets: Type.Boolean({
        description: 'The queue is parallel and cannot admit it without targets.',
      }),
      doesBaseBranchMatch: Type.Boolean({ description: 'The pull request targets the branch of the queue.' }),
      gitHubMergeability: outputEnum(MERGEABILITIES, 'What the forge says: whether it can be merged.'),
    },
    { description: 'What the pull request needs before it is admitted, as far as it is there.' },
  ),
);

const ImpactedTargetsInfo = component(
  'ImpactedTargetsInfo',
  Type.Object(
    {
      impactsAll: Type.Boolean({ description: 'It overlaps every other pull request.' }),
      count: nullable('integer', { description: 'How many targets; null where it impacts all.' }),
      note: Type.String({ description: 'Where this comes from.' }),
    },
    { description: 'What was uploaded as the impacted targets of the head commit.' },
  ),
);

const TimelineEntry = component(
  'TimelineEntry',
  Type.Object(
    {
      at: instant('When.'),
      state: EntryStateOut,
      reason: Type.String({ description: 'Why, as a stable code.' }),
      text: Type.String({ description: 'Why, in words.' }),
      actor: Type.Optional(Type.String({ description: 'Who did it, where somebody did: the name of a token.' })),
    },
    { description: 'One change of state.' },
  ),
);

const ExplanationReason = component(
  'ExplanationReason',
  Type.Object(
    {
      code: Type.String({ description: 'A stable code.' }),
      text: Type.String({ description: 'The reason in words.' }),
      prNumber: Type.Optional(Type.Integer({ description: 'The pull request it has to do with.' })),
      reasons: Type.Array(
        Type.Object(
          {
            code: Type.String({ description: 'A stable code.' }),
            text: Type.String({ description: 'The reason in words.' }),
          },
          { description: 'A reason behind the reason.' },
        ),
        { description: 'The reasons behind this one.' },
      ),
    },
    { description: 'Why it is where it is.' },
  ),
);

const ExplanationSchema = component(
  'Explanation',
  Type.Object(
    {
      summary: Type.String({ description: 'One sentence.' }),
      position: Type.Optional(Type.Integer({ description: 'Place in the queue, from 1; absent while not admitted.' })),
      next: Type.String({ description: 'What happens next.' }),
      reasons: Type.Array(ExplanationReason, { description: 'Why, most important first.' }),
    },
    { description: 'Why the entry is where it is, in words.' },
  ),
);

export const EntryRecord = component(
  'Entry',
  Type.Object(
    {
      ...listFields,
      readiness: Type.Optional(Readiness),
      forceEnqueued: Type.Boolean({ description: 'Sent past unmet readiness; always false.' }),
      isCurrentlySubmittedToQueue: Type.Boolean({
        description: 'It is in the queue: not merged, failed or cancelled.',
      }),
      impactedTargets: Type.Optional(ImpactedTargetsInfo),
      verifiedByTestRun: nullable('string', { description: 'The test run whose pass it was merged on; null if none.' }),
      timeline: Type.Optional(Type.Array(TimelineEntry, { description: 'Every change of state, newest first.' })),
      explanation: Type.Optional(ExplanationSchema),
    },
    { description: "One pull request's stay in the queue." },
  ),
);

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
