import { Type } from 'typebox';
import { MONITOR_TYPES } from '../flaky/core/monitor.ts';
import { TEST_STATUSES } from '../storage/tests.ts';
import { component, fixedEnum, instant, outputEnum, uuid } from './schema.ts';

const link = (description: string) =>
  Type.Object({ html_url: Type.String({ description: 'The link.' }) }, { description });

const testCaseFields = {
  id: uuid('Test case id.'),
  repository: link('The repository.'),
  html_url: Type.String({ description: 'Link to the test.' }),
  name: Type.String({ description: 'Test name.' }),
  variant: Type.String({ description: 'Test variant; empty where there is none.' }),
  status: Type.Object(
    {
      value: outputEnum(TEST_STATUSES, 'HEALTHY, FLAKY (fails at random) or BROKEN (fails).'),
      reason: Type.String({ description: 'Reason for the status.' }),
      timestamp: instant('When the status was set.'),
    },
    { description: 'The status.' },
  ),
  most_common_failures: Type.Array(
    Type.Object(
      {
        summary: Type.String({ description: 'What happened, in a line.' }),
        occurrence_count: Type.Integer({ description: 'How often.' }),
        last_occurrence: instant('When last.'),
      },
      { description: 'One way in which the test fails.' },
    ),
    { description: 'At most five ways in which it fails, most frequent first.' },
  ),
  failure_rate_last_7d: Type.Number({
    description: 'Failing runs of the last 7 days as a fraction of those not skipped, 0 to 1.',
  }),
  failure_rate_last_24h: Type.Number({ description: 'The same for the last 24 hours.' }),
  codeowners: Type.Array(Type.String(), { description: 'Owners of the test.' }),
  pull_requests_impacted_last_7d: Type.Integer({
    description: 'Pull requests that saw it fail in the last 7 days while it was unhealthy and not quarantined.',
  }),
  quarantined: Type.Boolean({ description: 'Its failures block nobody.' }),
  file_path: Type.Optional(Type.String({ description: 'File containing the test; absent where unknown.' })),
  parent: Type.Optional(Type.String({ description: 'Parent of the test; absent where unknown.' })),
  classname: Type.Optional(Type.String({ description: 'Class name of the test; absent where unknown.' })),
  ticket: Type.Optional(link('The linked ticket; absent where there is none.')),
};

export const TestCase = component('TestCase', Type.Object(testCaseFields, { description: 'A test and how it does.' }));

export const EXAMPLE_TEST = {
  id: 'd8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11',
  repository: { html_url: 'https://sluice.example/default/flaky-tests?repo=acme%2Fapp' },
  html_url: 'https://sluice.example/default/flaky-tests/test/d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11?repo=acme%2Fapp',
  name: 'retries on a closed connection',
  variant: '',
  status: { value: 'FLAKY', reason: 'It failed and passed on the same commit.', timestamp: '2026-09-17T10:16:02.000Z' },
  most_common_failures: [
    { summary: 'Timed out after 5000 ms', occurrence_count: 12, last_occurrence: '2026-09-17T09:58:40.000Z' },
  ],
  failure_rate_last_7d: 0.03,
  failure_rate_last_24h: 0.05,
  codeowners: ['@acme/network'],
  pull_requests_impacted_last_7d: 4,
  quarantined: false,
  file_path: 'test/connection.test.ts',
};

export const Evidence = component(
  'Evidence',
  Type.Object(
    {
      runs: Type.Array(
        Type.Object(
          {
            at: instant('When it ran.'),
            sha: Type.String({ description: 'Its commit.' }),
            branch: Type.String({ description: 'Its branch.' }),
            upload_id: Type.String({ description: 'The upload that told of it.' }),
            job: Type.Optional(Type.String({ description: 'Its job or check; absent where nobody said.' })),
            pr_number: Type.Optional(Type.Integer({ description: 'Its pull request; absent where there is none.' })),
          },
          { description: 'A run.' },
        ),
        { description: 'The latest runs that it follows from, newest first.' },
      ),
      figures: Type.Array(
        Type.Object(
          {
            name: Type.String({ description: 'What was counted or measured.' }),
            value: Type.Number({ description: 'How much.' }),
          },
          { description: 'A figure.' },
        ),
        { description: 'The numbers that were compared with the limits of the monitor.' },
      ),
    },
    { description: 'What a detection follows from.' },
  ),
);

const TestMonitor = component(
  'TestMonitor',
  Type.Object(
    {
      monitor_id: Type.String({ description: 'Which monitor.' }),
      type: fixedEnum(MONITOR_TYPES, 'What it looks for.'),
      name: Type.String({ description: 'Its name.' }),
      is_active: Type.Boolean({ description: 'It detects the test now.' }),
      active_since: Type.Optional(instant('Since when; absent where it is not active.')),
      reason: Type.Optional(Type.String({ description: 'Why, as a sentence; absent where it is not active.' })),
      evidence: Type.Optional(Evidence),
      mute: Type.Optional(
        Type.Object(
          {
            at: instant('Since when.'),
            actor: Type.String({ description: 'Who muted it.' }),
            until: Type.Optional(instant('Until when; absent: until somebody ends it.')),
            reason: Type.Optional(Type.String({ description: 'Why; absent where nobody said.' })),
          },
          { description: 'It goes on detecting, and does not count. Absent where it is not muted.' },
        ),
      ),
    },
    { description: 'A monitor and this test.' },
  ),
);

const LabelFacts = component(
  'TestLabel',
  Type.Object(
    {
      name: Type.String({ description: 'The label.' }),
      sources: Type.Array(
        Type.Object(
          {
            since: instant('Since when.'),
            actor: Type.Optional(Type.String({ description: 'The person who put it on.' })),
            monitor_id: Type.Optional(Type.String({ description: 'The monitor that put it on.' })),
          },
          { description: 'A person or a monitor.' },
        ),
        { description: 'Who put it on. It stays until all of them took it away.' },
      ),
    },
    { description: 'A label of a test.' },
  ),
);

export const TestDetails = component(
  'TestDetails',
  Type.Object(
    {
      ...testCaseFields,
      first_seen_at: instant('When the first results of it came.'),
      quarantined_at: Type.Optional(instant('Since when it is quarantined; absent where it is not.')),
      quarantine_override: Type.Optional(
        Type.Object(
          {
            setting: fixedEnum(['ALWAYS_QUARANTINE', 'NEVER_QUARANTINE'], 'What somebody decided.'),
            actor: Type.String({ description: 'Who decided it.' }),
            at: instant('When.'),
            reason: Type.String({ description: 'Why.' }),
            expires_at: Type.Optional(instant('Until when; absent: until somebody decides otherwise.')),
          },
          { description: "Decided for this test, whatever the repository's settings are. Absent where nobody did." },
        ),
      ),
      flag: Type.Optional(
        Type.Object(
          {
            actor: Type.String({ description: 'Who flagged it.' }),
            at: instant('When.'),
            reason: Type.Optional(Type.String({ description: 'Why; absent where nobody said.' })),
          },
          { description: 'Somebody says that it is flaky. Absent where nobody does.' },
        ),
      ),
      labels: Type.Array(LabelFacts, { description: 'Its labels, by name.' }),
      monitors: Type.Array(TestMonitor, { description: 'Monitors that detect it now, or are muted for it.' }),
    },
    { description: 'A test, how it does, and what was decided about it. /trunk/v1 answers a TestCase.' },
  ),
);

export const EXAMPLE_MONITOR_ID = '1f2b7c54-93a4-5b0e-9a39-4c1f5d1f7a10';
export const EXAMPLE_EVIDENCE = {
  runs: [
    {
      at: '2026-09-17T10:16:02.000Z',
      sha: '6f1c2d9a0b3e4f5a6b7c8d9e0f1a2b3c4d5e6f70',
      branch: 'main',
      upload_id: '0b6e4c1e-0d55-4f0f-8f1b-3d9b8f6f2c11',
      job: 'unit',
    },
  ],
  figures: [],
};
export const EXAMPLE_DETAILS = {
  ...EXAMPLE_TEST,
  quarantined: true,
  first_seen_at: '2026-08-02T08:00:00.000Z',
  quarantined_at: '2026-09-17T11:00:00.000Z',
  quarantine_override: {
    setting: 'ALWAYS_QUARANTINE',
    actor: 'ada',
    at: '2026-09-17T11:00:00.000Z',
    reason: 'Blocks everybody; see NET-12.',
    expires_at: '2026-10-01T00:00:00.000Z',
  },
  labels: [{ name: 'network', sources: [{ since: '2026-09-17T11:02:00.000Z', actor: 'ada' }] }],
  monitors: [
    {
      monitor_id: EXAMPLE_MONITOR_ID,
      type: 'pass_on_retry',
      name: 'Pass on retry',
      is_active: true,
      active_since: '2026-09-17T10:16:02.000Z',
      reason: 'It failed and passed on the same commit.',
      evidence: EXAMPLE_EVIDENCE,
    },
  ],
};
