import { Type } from 'typebox';
import { RUN_CONCLUSIONS } from '../storage/tests.ts';
import {
  boolean,
  inputEnum,
  instant,
  integer,
  list,
  nameText,
  nullable,
  optional,
  outputCode,
  outputEnum,
  record,
  text,
} from './schema.ts';
import { Evidence, EXAMPLE_EVIDENCE, EXAMPLE_MONITOR_ID, EXAMPLE_REASON, EXAMPLE_REF } from './test-details.ts';
import { EXAMPLE_PAGE, Page, PageQuery, TEST_ERRORS, testOperation, testRef } from './test-scope.ts';

const TestRun = record('TestCaseRun', 'One run of a test.', {
  conclusion: outputEnum(RUN_CONCLUSIONS, 'How it ended.'),
  started_at: instant('When it began.'),
  duration_ms: nullable('integer', 'How long it took; null where nobody said.'),
  branch: text('Its branch.'),
  sha: text('Its commit.'),
  quarantined: boolean('The test was quarantined then.'),
  upload_id: text('The upload that told of it.'),
  ...optional({
    pr_number: integer('Its pull request; absent where there is none.'),
    job_name: text('Its job; absent where nobody said.'),
    job_url: text('Where the job can be seen; absent where nobody said.'),
    no_evidence_because: text(
      'Why its upload is evidence for nothing: FORK, UNKNOWN_COMMIT, OUTAGE or IGNORED; absent where it is evidence.',
    ),
    failure_summary: text('Of a failure: what happened, in a line.'),
    failure_text: text('Of a failure: message and stack, where they were asked for.'),
  }),
});

export const listTestRuns = testOperation('listTestRuns', {
  scope: 'read',
  summary: 'List the runs of a test',
  description: 'Newest first, as far back as runs are kept.',
  body: Type.Object({
    ...testRef,
    page_query: PageQuery,
    ...optional({
      branch: nameText(255, 'Only runs of exactly this branch.'),
      conclusion: inputEnum(RUN_CONCLUSIONS, 'Only runs that ended so.'),
      include_failure_text: Type.Boolean({
        default: false,
        description: 'With the message and stack of each failure.',
      }),
    }),
  }),
  reply: Type.Object({ test_runs: list(TestRun, 'One page.'), page: Page }),
  errors: TEST_ERRORS,
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

const TestEvent = record('TestEvent', 'Something that happened to a test.', {
  at: instant('When.'),
  kind: outputCode(
    'STATUS_CHANGED, MONITOR_ACTIVATED, MONITOR_RESOLVED, MONITOR_MUTED, MONITOR_UNMUTED, TEST_FLAGGED, TEST_UNFLAGGED, UPLOAD_IGNORED, LABEL_ADDED, LABEL_REMOVED, QUARANTINE_CHANGED, OVERRIDE_CHANGED, OVERRIDE_EXPIRED, TICKET_LINKED or TICKET_UNLINKED; more may come.',
  ),
  text: text('What happened, as a sentence.'),
  ...optional({
    actor: text('Who did it; absent where nobody acted.'),
    reason: text('Why.'),
    from: text('The status or setting before.'),
    to: text('The status or setting after.'),
    monitor_id: text('The monitor that it is about.'),
    monitor_type: text('Its type.'),
    label: text('The label that it is about.'),
    suites: list(Type.String(), 'The suites that a person quarantined it in.'),
    until: instant('When a mute or an override ends automatically.'),
    url: text('Address of the ticket.'),
    evidence: Evidence,
  }),
});

export const listTestEvents = testOperation('listTestEvents', {
  scope: 'read',
  summary: 'List what happened to a test',
  description:
    'Changes of its status, detections with their evidence, quarantine, flags, mutes, labels and tickets: who, when and why. Newest first.',
  body: Type.Object({ ...testRef, page_query: PageQuery }),
  reply: Type.Object({ events: list(TestEvent, 'One page.'), page: Page }),
  errors: TEST_ERRORS,
  example: {
    body: { ...EXAMPLE_REF, page_query: {} },
    reply: {
      events: [
        {
          at: '2026-09-17T10:16:02.000Z',
          kind: 'STATUS_CHANGED',
          text: 'The status changed from HEALTHY to FLAKY.',
          reason: `Pass on retry: ${EXAMPLE_REASON}`,
          from: 'HEALTHY',
          to: 'FLAKY',
        },
        {
          at: '2026-09-17T10:16:02.000Z',
          kind: 'MONITOR_ACTIVATED',
          text: 'The monitor "Pass on retry" detected it.',
          reason: EXAMPLE_REASON,
          monitor_id: EXAMPLE_MONITOR_ID,
          monitor_type: 'pass_on_retry',
          evidence: EXAMPLE_EVIDENCE,
        },
      ],
      page: EXAMPLE_PAGE,
    },
  },
});
