import { Type } from 'typebox';
import { TEST_STATUSES } from '../storage/tests.ts';
import { boolean, fixedEnum, inputInstant, integer, list, number, object, record, text, uuid } from './schema.ts';
import { EXAMPLE_TEST } from './test-details.ts';
import { EXAMPLE_SCOPE, SCOPE_NOT_FOUND, testOperation, testScope } from './test-scope.ts';

const cost = {
  test_runs: integer('Test runs of queues that failed in flaky tests only.'),
  entries_removed: integer('Pull requests that such a run removed from the queue.'),
  entries_retested: integer('Other pull requests that such a run failed for; they were tested again.'),
  hours_waited: number(
    'Hours that the pull requests spent in these runs, and removed ones until they were submitted again.',
  ),
  ci_minutes: number('Minutes of the checks of these runs, added up.'),
};

const Cost = record('FlakeCost', 'What flaky tests cost.', cost);

const EXAMPLE_COST = { test_runs: 9, entries_removed: 4, entries_retested: 11, hours_waited: 14.2, ci_minutes: 380 };

export const costOfFlakes = testOperation('costOfFlakes', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Read what flaky tests cost the queues of a repository',
  description:
    'Counts the test runs of queues in which only flaky tests failed: each of these tests was flaky then, or was found to be within 7 days. Runs whose failed checks have no uploaded test results are not counted. A run in which several tests failed counts for each of them, and for each of their owners. The range is at most 92 days long.',
  body: Type.Object({
    ...testScope,
    start_time: inputInstant('Start of the range, inclusive.'),
    end_time: inputInstant('End of the range, exclusive; at most 92 days after the start.'),
  }),
  reply: Type.Object({
    total: Cost,
    tests: list(
      record('TestCost', 'What one test cost.', {
        id: uuid('Test case id.'),
        html_url: text('Link to the test.'),
        name: text('Test name.'),
        status: fixedEnum(TEST_STATUSES, 'Its status now.'),
        codeowners: list(Type.String(), 'Its owners.'),
        quarantined: boolean('It is quarantined now.'),
        ...cost,
      }),
      'At most 100 tests, the most waiting first.',
    ),
    owners: list(
      record('OwnerCost', 'What the tests of one owner cost.', { owner: text('The owner.'), ...cost }),
      'The most waiting first. Tests without an owner are not among them.',
    ),
    saved_by_honoring: {
      ...Cost,
      description:
        'The part of the total that a queue with honorQuarantine ON would have saved: all tests that failed were quarantined.',
    },
    advice: Type.Optional(
      object('What quarantining tests would have saved. Absent if it would have saved nothing.', {
        test_ids: list(Type.String(), 'Three tests at most.'),
        ...cost,
        text: text('The same as a sentence.'),
      }),
    ),
  }),
  errors: SCOPE_NOT_FOUND,
  example: {
    body: { ...EXAMPLE_SCOPE, start_time: '2026-08-18T12:00:00Z', end_time: '2026-09-17T12:00:00Z' },
    reply: {
      total: EXAMPLE_COST,
      tests: [
        {
          id: EXAMPLE_TEST.id,
          html_url: EXAMPLE_TEST.html_url,
          name: EXAMPLE_TEST.name,
          status: 'FLAKY',
          codeowners: EXAMPLE_TEST.codeowners,
          quarantined: false,
          ...EXAMPLE_COST,
        },
      ],
      owners: [{ owner: '@acme/network', ...EXAMPLE_COST }],
      saved_by_honoring: { test_runs: 0, entries_removed: 0, entries_retested: 0, hours_waited: 0, ci_minutes: 0 },
      advice: {
        test_ids: [EXAMPLE_TEST.id],
        ...EXAMPLE_COST,
        text: 'Quarantining this test would have saved 14 h of waiting and 380 CI minutes: "retries on a closed connection".',
      },
    },
  },
});
