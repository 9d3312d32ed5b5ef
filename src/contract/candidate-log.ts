import { Type } from 'typebox';
import { EXAMPLE_QUEUE, queueRef } from './common.ts';
import { operationsOf } from './operation.ts';
import { boolean, bothOrNone, integer, list, text, trimmedText } from './schema.ts';
import { CheckRun, EXAMPLE_TEST_RUN, TestRunId } from './testing.ts';

const operation = operationsOf('Queues');

export const getCandidateLog = operation('getCandidateLog', {
  scope: 'read',
  summary: 'Read what a check of the built-in runner printed',
  description:
    'Also while it runs: ask again with nextOffset until complete is true. An answer has at most 256 KiB and ends with a whole character; bytes that are no UTF-8 are shown as U+FFFD. A check that has printed nothing yet, or that another CI ran, has no text.',
  body: Type.Object(
    {
      repo: Type.Optional({
        ...queueRef.repo,
        description: 'The repository, with targetBranch; absent: wherever it is.',
      }),
      targetBranch: Type.Optional({ ...queueRef.targetBranch, description: 'The branch of the queue, with repo.' }),
      testRunId: TestRunId,
      check: Type.Optional(
        trimmedText(255, 'Name of the check. Absent: one that failed, else the first; the answer names it.'),
      ),
      offset: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          default: 0,
          description: 'Where to begin, in bytes: 0, or the nextOffset of the answer before.',
        }),
      ),
    },
    bothOrNone('repo', 'targetBranch'),
  ),
  reply: Type.Object({
    text: text('The output from offset on.'),
    nextOffset: integer('Where the next answer begins, in bytes.'),
    complete: boolean('This is the end: nothing more will be written.'),
    check: text('Name of the check.'),
    checks: list(CheckRun, 'Every check of the test run, those that have not reported last.'),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'TEST_RUN_NOT_FOUND'],
  example: {
    body: { ...EXAMPLE_QUEUE, testRunId: EXAMPLE_TEST_RUN.testRunId, check: 'test', offset: 0 },
    reply: {
      text: 'ok 1 - parses tabs\n',
      nextOffset: 19,
      complete: false,
      check: 'test',
      checks: [{ name: 'test', url: '', status: 'IN_PROGRESS' }],
    },
  },
});
