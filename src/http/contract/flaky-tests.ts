import { Type } from 'typebox';
import { TEST_STATUSES } from '../../storage/tests.ts';
import { EXAMPLE_REPO, Repo } from './common.ts';
import { operation } from './operation.ts';
import {
  component,
  fixedEnum,
  inputEnum,
  inputInstant,
  inputUuid,
  instant,
  nameText,
  nullable,
  outputEnum,
  uuid,
} from './schema.ts';

const NOT_FOUND = ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'] as const;

const scope = { repo: Repo, org_url_slug: nameText(255, "The organization's slug.") };

const PageQuery = component(
  'PageQuery',
  Type.Object(
    {
      page_size: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Number of items per page.' }),
      ),
      page_token: Type.Optional(
        Type.String({ maxLength: 1000, description: 'Selects the page to return; empty or absent for the first.' }),
      ),
    },
    { description: 'Pagination options.' },
  ),
);

const Page = component(
  'Page',
  Type.Object(
    {
      total_rows: Type.Integer({ description: 'How many rows the query has.' }),
      total_pages: Type.Integer({ description: 'How many pages these make.' }),
      next_page_token: Type.String({ description: 'Token of the next page; empty on the last.' }),
      prev_page_token: Type.String({ description: 'Token of the page before; empty on the first.' }),
      last_page_token: Type.String({ description: 'Token of the last page; empty where there is none.' }),
      page_index: Type.Integer({ description: 'Number of this page, from 0.' }),
    },
    { description: 'Where this page is. All pages of a query are as of its first page, whatever arrives meanwhile.' },
  ),
);

const link = (description: string) =>
  Type.Object({ html_url: Type.String({ description: 'The link.' }) }, { description });

const TestCase = component(
  'TestCase',
  Type.Object(
    {
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
    },
    { description: 'A test and how it does.' },
  ),
);

const EXAMPLE_SCOPE = { repo: EXAMPLE_REPO, org_url_slug: 'default' };
const EXAMPLE_PAGE = {
  total_rows: 1,
  total_pages: 1,
  next_page_token: '',
  prev_page_token: '',
  last_page_token: 'bGFzdA',
  page_index: 0,
};
const EXAMPLE_TEST = {
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

export const listFailingTests = operation({
  name: 'listFailingTests',
  method: 'POST',
  path: '/flaky-tests/list-failing-tests',
  tag: 'Flaky tests',
  scope: 'read',
  summary: 'List distinct tests that failed in a time range',
  description: 'Most failures first. The range is at most 7 days long.',
  body: Type.Object({
    ...scope,
    start_time: inputInstant('Start of the range, inclusive.'),
    end_time: inputInstant('End of the range, exclusive; at most 7 days after the start.'),
    page_query: PageQuery,
  }),
  reply: Type.Object({ tests: Type.Array(TestCase, { description: 'One page of failing tests.' }), page: Page }),
  errors: NOT_FOUND,
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

export const listQuarantinedTests = operation({
  name: 'listQuarantinedTests',
  method: 'POST',
  path: '/flaky-tests/list-quarantined-tests',
  tag: 'Flaky tests',
  scope: 'read',
  summary: 'List quarantined tests',
  description: 'Ordered by test id.',
  body: Type.Object({ ...scope, page_query: PageQuery }),
  reply: Type.Object({
    quarantined_tests: Type.Array(
      component(
        'QuarantinedTest',
        Type.Object(
          {
            name: Type.String({ description: 'Test name.' }),
            parent: Type.Optional(nullable('string', { description: 'Parent of the test.' })),
            file: Type.Optional(nullable('string', { description: 'File containing the test.' })),
            classname: Type.Optional(nullable('string', { description: 'Class name of the test.' })),
            status: fixedEnum(TEST_STATUSES, 'The status of the test.'),
            codeowners: Type.Array(Type.String(), { description: 'Owners of the test.' }),
            quarantine_setting: fixedEnum(['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE'], 'Why it is quarantined.'),
            quarantined_at: instant('Since when.'),
            status_last_updated_at: instant('When its status was set.'),
            test_case_id: Type.String({ description: 'Test case id.' }),
            variant: Type.String({ description: 'Test variant; empty where there is none.' }),
          },
          { description: 'A quarantined test.' },
        ),
      ),
      { description: 'One page.' },
    ),
    page: Page,
  }),
  errors: NOT_FOUND,
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
        },
      ],
      page: EXAMPLE_PAGE,
    },
  },
});

export const listUnhealthyTests = operation({
  name: 'listUnhealthyTests',
  method: 'POST',
  path: '/flaky-tests/list-unhealthy-tests',
  tag: 'Flaky tests',
  scope: 'read',
  summary: 'List flaky or broken tests',
  description: 'Ordered by test id.',
  body: Type.Object({ ...scope, status: inputEnum(['FLAKY', 'BROKEN'], 'Which.'), page_query: PageQuery }),
  reply: Type.Object({ tests: Type.Array(TestCase, { description: 'One page of tests.' }), page: Page }),
  errors: NOT_FOUND,
  example: {
    body: { ...EXAMPLE_SCOPE, status: 'FLAKY', page_query: {} },
    reply: { tests: [EXAMPLE_TEST], page: EXAMPLE_PAGE },
  },
});

export const getTestDetails = operation({
  name: 'getTestDetails',
  method: 'POST',
  path: '/flaky-tests/get-test-details',
  tag: 'Flaky tests',
  scope: 'read',
  summary: 'Read the details of one test',
  description: 'Its status, how it fails and how often.',
  body: Type.Object({ ...scope, test_id: inputUuid('Id of the test case.') }),
  reply: Type.Object({ test: TestCase }),
  errors: [...NOT_FOUND, 'TEST_NOT_FOUND'],
  example: { body: { ...EXAMPLE_SCOPE, test_id: EXAMPLE_TEST.id }, reply: { test: EXAMPLE_TEST } },
});
