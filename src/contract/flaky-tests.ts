import { Type } from 'typebox';
import { TEST_ORDERS, TEST_STATUSES } from '../storage/tests.ts';
import {
  boolean,
  fixedEnum,
  inputEnum,
  inputInstant,
  instant,
  limitTo,
  list,
  nameText,
  nullable,
  optional,
  record,
  text,
} from './schema.ts';
import { EXAMPLE_DETAILS, EXAMPLE_LISTED, EXAMPLE_TEST, ListedTest, TestCase, TestDetails } from './test-details.ts';
import {
  EXAMPLE_PAGE,
  EXAMPLE_SCOPE,
  Page,
  PageQuery,
  SCOPE_NOT_FOUND,
  TEST_ERRORS,
  testOperation,
  testRef,
  testScope,
} from './test-scope.ts';

export const listFailingTests = testOperation('listFailingTests', {
  scope: 'read',
  summary: 'List distinct tests that failed in a time range',
  description: 'Most failures first. The range is at most 7 days long.',
  body: Type.Object({
    ...testScope,
    start_time: inputInstant('Start of the range, inclusive.'),
    end_time: inputInstant('End of the range, exclusive; at most 7 days after the start.'),
    page_query: PageQuery,
  }),
  reply: Type.Object({ tests: list(TestCase, 'One page of failing tests.'), page: Page }),
  errors: SCOPE_NOT_FOUND,
  example: {
    body: {
      ...EXAMPLE_SCOPE,
      start_time: '2026-09-10T12:00:00Z',
      end_time: '2026-09-17T12:00:00Z',
      page_query: { page_size: 25, page_token: '' },
    },
    reply: { tests: [EXAMPLE_TEST], page: EXAMPLE_PAGE },
  },
});

export const listQuarantinedTests = testOperation('listQuarantinedTests', {
  scope: 'read',
  summary: 'List quarantined tests',
  description:
    'Ordered by test id. On /v1 a test whose quarantine seems to have outlived its reason says so: it only passes now, or no longer runs.',
  body: Type.Object({
    ...testScope,
    page_query: PageQuery,
    only_to_review: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Leaves out of each page the tests that are not to be reviewed. The pages stay those of the whole list: one can be empty and have a next, and the totals count all quarantined tests.',
      }),
    ),
  }),
  reply: Type.Object({
    quarantined_tests: list(
      record('QuarantinedTest', 'A quarantined test.', {
        name: text('Test name.'),
        ...optional({
          parent: nullable('string', 'Parent of the test.'),
          file: nullable('string', 'File containing the test.'),
          classname: nullable('string', 'Class name of the test.'),
        }),
        status: fixedEnum(TEST_STATUSES, 'The status of the test.'),
        codeowners: list(Type.String(), 'Owners of the test.'),
        quarantine_setting: fixedEnum(['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE'], 'Why it is quarantined.'),
        quarantined_at: instant('Since when.'),
        status_last_updated_at: instant('When its status was set.'),
        test_case_id: text('Test case id.'),
        variant: text('Test variant; empty where there is none.'),
        ...optional({
          expires_at: instant('When somebody decided that it ends; absent where nobody did, and on /trunk/v1.'),
          quarantined_suites: list(
            Type.String(),
            'The suites that a person quarantined it in; absent where none is known, and on /trunk/v1.',
          ),
          review: fixedEnum(
            ['ALWAYS_PASSES', 'NEVER_RUNS'],
            'Quarantined for 14 days, and it passed at least 50 times and never failed, or has not run for 14 days. Absent otherwise, and on /trunk/v1.',
          ),
        }),
      }),
      'One page.',
    ),
    page: Page,
  }),
  errors: SCOPE_NOT_FOUND,
  example: {
    body: { ...EXAMPLE_SCOPE, page_query: { page_size: 25 } },
    reply: {
      quarantined_tests: [
        {
          name: 'retries on a closed connection',
          file: 'test/connection.test.ts',
          status: 'FLAKY',
          codeowners: ['@acme/network'],
          quarantine_setting: 'ALWAYS_QUARANTINE',
          quarantined_at: '2026-09-17T11:00:00.000Z',
          status_last_updated_at: '2026-09-17T10:16:02.000Z',
          test_case_id: EXAMPLE_TEST.id,
          variant: '',
          expires_at: '2026-10-01T00:00:00.000Z',
          review: 'ALWAYS_PASSES',
        },
      ],
      page: EXAMPLE_PAGE,
    },
  },
});

export const listUnhealthyTests = testOperation('listUnhealthyTests', {
  scope: 'read',
  summary: 'List flaky or broken tests',
  description: 'Ordered by test id.',
  body: Type.Object({ ...testScope, status: inputEnum(['FLAKY', 'BROKEN'], 'Which.'), page_query: PageQuery }),
  reply: Type.Object({ tests: list(TestCase, 'One page of tests.'), page: Page }),
  errors: SCOPE_NOT_FOUND,
  example: {
    body: { ...EXAMPLE_SCOPE, status: 'FLAKY', page_query: {} },
    reply: { tests: [EXAMPLE_TEST], page: EXAMPLE_PAGE },
  },
});

export const getTestDetails = testOperation('getTestDetails', {
  scope: 'read',
  summary: 'Read the details of one test',
  description:
    'Its status, how it fails and how often, and on /v1 what was decided about it: override, flag, labels, and the monitors that detect it with their evidence.',
  body: Type.Object(testRef),
  reply: Type.Object({ test: TestDetails }),
  errors: TEST_ERRORS,
  example: { body: { ...EXAMPLE_SCOPE, test_id: EXAMPLE_TEST.id }, reply: { test: EXAMPLE_DETAILS } },
});

export const searchTests = testOperation('searchTests', {
  scope: 'read',
  summary: 'Find tests by a part of their name',
  description: 'Looks at name, class, file and suite, whatever the case. Ordered by name, then id.',
  body: Type.Object({
    ...testScope,
    query: nameText(500, 'A part of the name, class, file or suite.'),
    limit: Type.Optional(limitTo(100, 20, 'How many tests at most.')),
  }),
  reply: Type.Object({ tests: list(TestCase, 'The tests that were found.') }),
  errors: SCOPE_NOT_FOUND,
  example: { body: { ...EXAMPLE_SCOPE, query: 'closed connection' }, reply: { tests: [EXAMPLE_TEST] } },
});

export const listTests = testOperation('listTests', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'List the tests of a repository by their figures',
  description:
    'All tests, or those that fit the filters, sorted by a figure of the last 30 days (UTC, today among them), the largest first. Pages are of the present: figures change with every upload, so a test can move from one page to another.',
  body: Type.Object({
    ...testScope,
    page_query: PageQuery,
    ...optional({
      status: inputEnum(TEST_STATUSES, 'Only tests of this status.'),
      quarantined: boolean('Only tests that are quarantined, or only those that are not.'),
      owner: nameText(200, 'Only tests of this owner, exactly as CODEOWNERS has it.'),
      text: nameText(500, 'Only tests with this in their name, class, file or suite, in any case.'),
      sort: inputEnum(
        TEST_ORDERS,
        'The figure to sort by. PULL_REQUESTS is the default: pull requests that saw the test fail while it was unhealthy and not quarantined.',
      ),
    }),
  }),
  reply: Type.Object({ tests: list(ListedTest, 'One page of tests.'), page: Page }),
  errors: SCOPE_NOT_FOUND,
  example: {
    body: { ...EXAMPLE_SCOPE, owner: '@acme/network', sort: 'FAILURES', page_query: { page_size: 25 } },
    reply: { tests: [EXAMPLE_LISTED], page: EXAMPLE_PAGE },
  },
});
