import { Type } from 'typebox';
import { RUN_CONCLUSIONS } from '../storage/tests.ts';
import { operation } from './operation.ts';
import { component, inputEnum, inputUuid, instant, nameText, nullable, outputCode, outputEnum } from './schema.ts';
import { Evidence, EXAMPLE_DETAILS, EXAMPLE_EVIDENCE, EXAMPLE_MONITOR_ID } from './test-details.ts';
import { EXAMPLE_PAGE, EXAMPLE_SCOPE, Page, PageQuery, SCOPE_NOT_FOUND, testScope } from './test-scope.ts';

const testRef = { ...testScope, test_id: inputUuid('Id of the test case.') };
const EXAMPLE_REF = { ...EXAMPLE_SCOPE, test_id: EXAMPLE_DETAILS.id };
const errors = [...SCOPE_NOT_FOUND, 'TEST_NOT_FOUND'] as const;

const TestRun = component(
  'TestCaseRun',
  Type.Object(
    {
      conclusion: outputEnum(RUN_CONCLUSIONS, 'How it ended.'),
      started_at: instant('When it began.'),
      duration_ms: nullable('integer', { description: 'How long it took; null where nobody said.' }),
      branch: Type.String({ description: 'Its branch.' }),
      sha: Type.String({ description: 'Its commit.' }),
      quarantined: Type.Boolean({ description: 'The test was quarantined then.' }),
      upload_id: Type.String({ description: 'The upload that told of it.' }),
      pr_number: Type.Optional(Type.Integer({ description: 'Its pull request; absent where there is none.' })),
      job_name: Type.Optional(Type.String({ description: 'Its job; absent where nobody said.' })),
      job_url: Type.Optional(Type.String({ description: 'Where the job can be seen; absent where nobody said.' })),
      no_evidence_because: Type.Optional(
        Type.String({
          description:
            'Why its upload is evidence for nothing: FORK, UNKNOWN_COMMIT, OUTAGE or IGNORED; absent where it is evidence.',
        }),
      ),
      failure_summary: Type.Optional(Type.String({ description: 'Of a failure: what happened, in a line.' })),
      failure_text: Type.Optional(
        Type.String({ description: 'Of a failure: message and stack, where they were asked for.' }),
      ),
    },
    { description: 'One run of a test.' },
  ),
);

export const listTestRuns = operation({
  name: 'listTestRuns',
  path: '/flaky-tests/list-test-runs',
  tag: 'Flaky tests',
  scope: 'read',
  summary: 'List the runs of a test',
  description: 'Newest first, as far back as runs are kept.',
  body: Type.Object({
    ...testRef,
    page_query: PageQuery,
    branch: Type.Optional(nameText(255, 'Only runs of exactly this branch.')),
    conclusion: Type.Optional(inputEnum(RUN_CONCLUSIONS, 'Only runs that ended so.')),
    include_failure_text: Type.Optional(
      Type.Boolean({ default: false, description: 'With the message and stack of each failure.' }),
    ),
  }),
  reply: Type.Object({ test_runs: Type.Array(TestRun, { description: 'One page.' }), page: Page }),
  errors,
  example: {
    body: { ...EXAMPLE_REF, conclusion: 'FAILURE', page_query: { page_size: 25 } },
    reply: {
      test_runs: [
        {
          conclusion: 'FAILURE',
          started_at: '2026-09-17T09:58:40.000Z',
          duration_ms: 5012,
          branch: 'main',
          sha: '6f1c2d9a0b3e4f5a6b7c8d9e0f1a2b3c4d5e6f70',
          quarantined: false,
          upload_id: '0b6e4c1e-0d55-4f0f-8f1b-3d9b8f6f2c11',
          job_name: 'unit',
          job_url: 'https://ci.example/jobs/411',
          failure_summary: 'Timed out after 5000 ms',
        },
      ],
      page: EXAMPLE_PAGE,
    },
  },
});

const TestEvent = component(
  'TestEvent',
  Type.Object(
    {
      at: instant('When.'),
      kind: outputCode(
        'STATUS_CHANGED, MONITOR_ACTIVATED, MONITOR_RESOLVED, MONITOR_MUTED, MONITOR_UNMUTED, TEST_FLAGGED, TEST_UNFLAGGED, UPLOAD_IGNORED, LABEL_ADDED, LABEL_REMOVED, QUARANTINE_CHANGED, OVERRIDE_CHANGED, OVERRIDE_EXPIRED, TICKET_LINKED or TICKET_UNLINKED; more may come.',
      ),
      text: Type.String({ description: 'What happened, as a sentence.' }),
      actor: Type.Optional(Type.String({ description: 'Who did it; absent where nobody acted.' })),
      reason: Type.Optional(Type.String({ description: 'Why.' })),
      from: Type.Optional(Type.String({ description: 'The status or setting before.' })),
      to: Type.Optional(Type.String({ description: 'The status or setting after.' })),
      monitor_id: Type.Optional(Type.String({ description: 'The monitor that it is about.' })),
      monitor_type: Type.Optional(Type.String({ description: 'Its type.' })),
      label: Type.Optional(Type.String({ description: 'The label that it is about.' })),
      until: Type.Optional(instant('When a mute or an override ends by itself.')),
      url: Type.Optional(Type.String({ description: 'Address of the ticket.' })),
      evidence: Type.Optional(Evidence),
    },
    { description: 'Something that happened to a test.' },
  ),
);

export const listTestEvents = operation({
  name: 'listTestEvents',
  path: '/flaky-tests/list-test-events',
  tag: 'Flaky tests',
  scope: 'read',
  summary: 'List what happened to a test',
  description:
    'Changes of its status, detections with their evidence, quarantine, flags, mutes, labels and tickets: who, when and why. Newest first.',
  body: Type.Object({ ...testRef, page_query: PageQuery }),
  reply: Type.Object({ events: Type.Array(TestEvent, { description: 'One page.' }), page: Page }),
  errors,
  example: {
    body: { ...EXAMPLE_REF, page_query: {} },
    reply: {
      events: [
        {
          at: '2026-09-17T10:16:02.000Z',
          kind: 'STATUS_CHANGED',
          text: 'The status changed from HEALTHY to FLAKY.',
          reason: 'Pass on retry: It failed and passed on the same commit.',
          from: 'HEALTHY',
          to: 'FLAKY',
        },
        {
          at: '2026-09-17T10:16:02.000Z',
          kind: 'MONITOR_ACTIVATED',
          text: 'The monitor "Pass on retry" detected it.',
          reason: 'It failed and passed on the same commit.',
          monitor_id: EXAMPLE_MONITOR_ID,
          monitor_type: 'pass_on_retry',
          evidence: EXAMPLE_EVIDENCE,
        },
      ],
      page: EXAMPLE_PAGE,
    },
  },
});
