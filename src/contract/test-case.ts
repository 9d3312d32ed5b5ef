import { Type } from 'typebox';
import { TEST_STATUSES } from '../storage/tests.ts';
import { component, instant, outputEnum, uuid } from './schema.ts';

const link = (description: string) =>
  Type.Object({ html_url: Type.String({ description: 'The link.' }) }, { description });

export const testCaseFields = {
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
