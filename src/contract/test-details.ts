import { Type } from 'typebox';
import { MONITOR_TYPES } from '../flaky/core/monitor.ts';
import { TEST_STATUSES } from '../storage/tests.ts';
import {
  boolean,
  component,
  fixedEnum,
  instant,
  integer,
  list,
  number,
  object,
  optional,
  outputEnum,
  record,
  text,
  uuid,
} from './schema.ts';
import { EXAMPLE_SCOPE } from './test-scope.ts';

const link = (description: string) => record('Link', description, { html_url: text('The link.') });

const testCaseFields = {
  id: uuid('Test case id.'),
  repository: link('The repository.'),
  html_url: text('Link to the test.'),
  name: text('Test name.'),
  variant: text('Test variant; empty where there is none.'),
  status: record('TestCaseStatus', 'The status.', {
    value: outputEnum(TEST_STATUSES, 'HEALTHY, FLAKY (fails at random) or BROKEN (fails).'),
    reason: text('Reason for the status.'),
    timestamp: instant('When the status was set.'),
  }),
  most_common_failures: list(
    record('CommonFailure', 'One way in which the test fails.', {
      summary: text('What happened, in a line.'),
      occurrence_count: integer('How often.'),
      last_occurrence: instant('When last.'),
    }),
    'At most five ways in which it fails, most frequent first.',
  ),
  failure_rate_last_7d: number('Failing runs of the last 7 days as a fraction of those not skipped, 0 to 1.'),
  failure_rate_last_24h: number('The same for the last 24 hours.'),
  codeowners: list(Type.String(), 'Owners of the test.'),
  pull_requests_impacted_last_7d: integer(
    'Pull requests that saw it fail in the last 7 days while it was unhealthy and not quarantined.',
  ),
  quarantined: boolean('Its failures block nobody.'),
  ...optional({
    file_path: text('File containing the test; absent where unknown.'),
    parent: text('Parent of the test; absent where unknown.'),
    classname: text('Class name of the test; absent where unknown.'),
    ticket: link('The linked ticket; absent where there is none.'),
  }),
};

export const TestCase = record('TestCase', 'A test and how it does.', testCaseFields);

export const EXAMPLE_TEST = {
  id: 'd8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11',
  repository: { html_url: 'https://sluice.example/default/flaky-tests?repo=acme%2Fapp' },
  html_url:
    'https://sluice.example/default/flaky-tests/test/d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11?repo=acme%2Fapp&host=local',
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

const {
  most_common_failures: _,
  failure_rate_last_7d: _7d,
  failure_rate_last_24h: _24h,
  ...listedFields
} = testCaseFields;
const { pull_requests_impacted_last_7d: _impacted, ...listedIdentity } = listedFields;

const figureFields = {
  pull_requests_impacted_last_30d: integer(
    'Pull requests that saw it fail in the last 30 days while it was unhealthy and not quarantined.',
  ),
  average_duration_ms: Type.Optional(number('How long a run takes; absent where no run told it.')),
  last_failure_at: Type.Optional(instant('When it last failed, however long ago; absent where it never did.')),
  daily: object('Its runs and failures by day (UTC): 30 numbers each, the last one of today.', {
    first_day: text('The first of the days, such as 2026-08-19.'),
    runs: list(Type.Integer(), 'Runs of each day.'),
    failures: list(Type.Integer(), 'Failures of each day.'),
  }),
};

export const ListedTest = record('ListedTest', 'A test and its figures of the last 30 days, without skipped runs.', {
  ...listedIdentity,
  runs_last_30d: integer('Its runs.'),
  failures_last_30d: integer('Those that failed.'),
  failure_rate_last_30d: number('These as a fraction of its runs, 0 to 1.'),
  quarantined_suites: Type.Optional(
    list(Type.String(), 'The suites that a person quarantined it in; absent where none is known.'),
  ),
  ...figureFields,
});

const { id, repository, html_url, name, variant, status, codeowners, quarantined, file_path } = EXAMPLE_TEST;
const busy = Array.from({ length: 30 }, (_day, index) => 10 + (index % 3));

const EXAMPLE_FIGURES = {
  pull_requests_impacted_last_30d: 9,
  average_duration_ms: 1480.5,
  last_failure_at: '2026-09-17T09:58:40.000Z',
  daily: {
    first_day: '2026-08-19',
    runs: busy,
    failures: busy.map((runs, index) => (runs === 12 || index > 27 ? 1 : 0)),
  },
};

export const EXAMPLE_LISTED = {
  ...{ id, repository, html_url, name, variant, status, codeowners, quarantined, file_path },
  runs_last_30d: 330,
  failures_last_30d: 12,
  failure_rate_last_30d: 0.036363636363636362,
  ...EXAMPLE_FIGURES,
};

const outcome = (description: string) =>
  object(description, {
    sha: text('Its commit.'),
    upload_id: text('The upload that told of it.'),
    test_run_id: Type.Optional(text('The test run of a queue that it belongs to; absent where there is none.')),
  });

export const Evidence = record('Evidence', 'What a detection follows from.', {
  runs: list(
    object('A run.', {
      at: instant('When it ran.'),
      sha: text('Its commit.'),
      branch: text('Its branch.'),
      upload_id: text('The upload that told of it.'),
      job: Type.Optional(text('Its job or check; absent where nobody said.')),
      pr_number: Type.Optional(integer('Its pull request; absent where there is none.')),
      tree: Type.Optional(text('Of a retry: the tree that failed and passed; absent where it is not known.')),
      failed: Type.Optional(outcome('Of a retry in two uploads: the one in which the test failed.')),
      passed: Type.Optional(outcome('The one in which it passed.')),
    }),
    'The latest runs that it follows from, newest first.',
  ),
  figures: list(
    object('A figure.', {
      name: text('What was counted or measured.'),
      value: number('How much.'),
    }),
    'The numbers that were compared with the limits of the monitor.',
  ),
});

const TestMonitor = record('TestMonitor', 'A monitor and this test.', {
  monitor_id: text('Which monitor.'),
  type: component('MonitorType', fixedEnum(MONITOR_TYPES, 'What it looks for.')),
  name: text('Its name.'),
  is_active: boolean('It detects the test now.'),
  ...optional({
    active_since: instant('Since when; absent where it is not active.'),
    reason: text('Why, as a sentence; absent where it is not active.'),
    evidence: Evidence,
    mute: object('It goes on detecting, and does not count. Absent where it is not muted.', {
      at: instant('Since when.'),
      actor: text('Who muted it.'),
      until: Type.Optional(instant('Until when; absent: until somebody ends it.')),
      reason: Type.Optional(text('Why; absent where nobody said.')),
    }),
  }),
});

const LabelFacts = record('TestLabel', 'A label of a test.', {
  name: text('The label.'),
  sources: list(
    object('A person or a monitor.', {
      since: instant('Since when.'),
      actor: Type.Optional(text('The person who put it on.')),
      monitor_id: Type.Optional(text('The monitor that put it on.')),
    }),
    'Who put it on. It stays until all of them took it away.',
  ),
});

export const TestDetails = record(
  'TestDetails',
  'A test, how it does, and what was decided about it. /trunk/v1 answers a TestCase.',
  {
    ...testCaseFields,
    ...figureFields,
    first_seen_at: instant('When the first results of it came.'),
    suites: list(
      Type.String(),
      'The suites in which it was seen, as `outermost > inner`, at most 50; empty where no results named one. Its id stands for the tests of its name in all of them.',
    ),
    ...optional({
      quarantined_at: instant('Since when it is quarantined; absent where it is not.'),
      quarantine_override: object(
        "Decided for this test, whatever the repository's settings are. Absent where nobody did.",
        {
          setting: fixedEnum(['ALWAYS_QUARANTINE', 'NEVER_QUARANTINE'], 'What somebody decided.'),
          actor: text('Who decided it.'),
          at: instant('When.'),
          reason: text('Why.'),
          expires_at: Type.Optional(instant('Until when; absent: until somebody decides otherwise.')),
          suites: Type.Optional(
            list(Type.String(), 'The suites that ALWAYS_QUARANTINE names; absent where none was known then.'),
          ),
        },
      ),
      flag: object('Somebody says that it is flaky. Absent where nobody does.', {
        actor: text('Who flagged it.'),
        at: instant('When.'),
        reason: Type.Optional(text('Why; absent where nobody said.')),
      }),
    }),
    labels: list(LabelFacts, 'Its labels, by name.'),
    monitors: list(TestMonitor, 'Monitors that detect it now, or are muted for it.'),
  },
);

export const EXAMPLE_MONITOR_ID = '1f2b7c54-93a4-5b0e-9a39-4c1f5d1f7a10';
export const EXAMPLE_REASON =
  'It failed in test run 0f6fd6c4 and passed on commit 6f1c2d9a0b3e of the same tree 1a2b3c4d5e6f in unit.';
export const EXAMPLE_EVIDENCE = {
  runs: [
    {
      at: '2026-09-17T10:16:02.000Z',
      sha: '6f1c2d9a0b3e4f5a6b7c8d9e0f1a2b3c4d5e6f70',
      branch: 'main',
      upload_id: '0b6e4c1e-0d55-4f0f-8f1b-3d9b8f6f2c11',
      job: 'unit',
      tree: '1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d',
      failed: {
        sha: '9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a39281706',
        upload_id: 'c6a6f0a1-3b0e-4a53-9a1c-5f6b0c3f8a02',
        test_run_id: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55',
      },
      passed: {
        sha: '6f1c2d9a0b3e4f5a6b7c8d9e0f1a2b3c4d5e6f70',
        upload_id: '0b6e4c1e-0d55-4f0f-8f1b-3d9b8f6f2c11',
      },
    },
  ],
  figures: [],
};
export const EXAMPLE_DETAILS = {
  ...EXAMPLE_TEST,
  ...EXAMPLE_FIGURES,
  quarantined: true,
  first_seen_at: '2026-08-02T08:00:00.000Z',
  suites: ['connection > pooled', 'connection > single'],
  quarantined_at: '2026-09-17T11:00:00.000Z',
  quarantine_override: {
    setting: 'ALWAYS_QUARANTINE',
    actor: 'ada',
    at: '2026-09-17T11:00:00.000Z',
    reason: 'Blocks everybody; see NET-12.',
    expires_at: '2026-10-01T00:00:00.000Z',
    suites: ['connection > pooled'],
  },
  labels: [{ name: 'network', sources: [{ since: '2026-09-17T11:02:00.000Z', actor: 'ada' }] }],
  monitors: [
    {
      monitor_id: EXAMPLE_MONITOR_ID,
      type: 'pass_on_retry',
      name: 'Pass on retry',
      is_active: true,
      active_since: '2026-09-17T10:16:02.000Z',
      reason: EXAMPLE_REASON,
      evidence: EXAMPLE_EVIDENCE,
    },
  ],
};
export const EXAMPLE_REF = { ...EXAMPLE_SCOPE, test_id: EXAMPLE_DETAILS.id };
