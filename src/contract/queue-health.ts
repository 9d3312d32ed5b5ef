import { Type } from 'typebox';
import { EXAMPLE_QUEUE, queueRef } from './common.ts';
import { operationsOf } from './operation.ts';
import { instant, integer, limitTo, list, number, optional, outputCode, record, text } from './schema.ts';

const operation = operationsOf('Queues');

const figures = {
  landed: integer('Pull requests that landed.'),
  removed: integer('Pull requests that were removed because they failed.'),
  cancelled: integer('Pull requests that left for another reason.'),
  runs: integer('CI runs that ended.'),
  reusedTrees: integer('Candidates that passed without a run, because their tree had passed before.'),
  ciSeconds: number('How long runs took, together.'),
  p50Seconds: Type.Optional(number('Half of those that landed were in the queue for at most this long.')),
  p95Seconds: Type.Optional(number('95 of 100 that landed were in the queue for at most this long.')),
};

const EXAMPLE_FIGURES = {
  ...{ landed: 41, removed: 3, cancelled: 1, runs: 22, reusedTrees: 6, ciSeconds: 13_400 },
  ...{ p50Seconds: 812, p95Seconds: 2_120 },
};

export const getQueueHealth = operation('getQueueHealth', {
  scope: 'read',
  isOnlyOnV1: true,
  summary: 'Read how a queue did',
  description: 'By hours with days: 1, by days (in UTC) otherwise. The last one is not over.',
  body: Type.Object({
    ...queueRef,
    days: Type.Optional(limitTo(90, 7, 'How many days back.')),
    withSavings: Type.Optional(
      Type.Boolean({
        description:
          'Also replay the latest decided pull requests, as adviseQueue does, without the first barrier and the first target of `serialises`. It takes seconds.',
      }),
    ),
  }),
  reply: record('QueueHealth', 'How a queue did.', {
    buckets: list(
      record('HealthBucket', 'An hour or a day.', { from: instant('When it begins.'), ...figures }),
      'Oldest first, none left out.',
    ),
    bucketSeconds: integer('How long each of them is.'),
    total: record('HealthFigures', 'The whole time.', figures),
    reasons: list(
      record('RemovalReason', 'Why pull requests were removed.', {
        reason: outputCode('As a stable code.'),
        count: integer('How many.'),
      }),
      'The most frequent first.',
    ),
    serialises: list(
      record('LaneReason', 'A reason why pull requests of a parallel queue were tested one behind the other.', {
        kind: outputCode(
          'TARGET: they share this target. UPLOADED_ALL: one of them was uploaded as ALL. BARRIER, MANIFEST, OTHERWISE, PROBLEM: the targets of one of them were computed as ALL.',
        ),
        name: text('The target, the pattern of the barrier, the manifest, or the problem.'),
        pairs: integer('How many pairs, lately: old counts fade.'),
        ...optional({
          p50MinutesNow: number(
            'Half of those that landed took at most this long in the replay. With withSavings, of the first barrier and the first target; absent if fewer than 30 were decided.',
          ),
          p50MinutesWithout: number(
            'The same if the barrier were a target of its own, or if no two pull requests shared the target.',
          ),
        }),
      }),
      'At most 20, the most frequent first. Empty for a queue with one lane.',
    ),
    fewestRunsPerDecided: Type.Optional(
      number('The least CI runs that any queue needs to decide a pull request, if as many fail at random.'),
    ),
  }),
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND'],
  example: {
    body: { ...EXAMPLE_QUEUE, days: 7 },
    reply: {
      buckets: [{ from: '2026-09-17T00:00:00.000Z', ...EXAMPLE_FIGURES }],
      bucketSeconds: 86_400,
      total: EXAMPLE_FIGURES,
      reasons: [{ reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', count: 3 }],
      serialises: [{ kind: 'BARRIER', name: 'package-lock.json', pairs: 12 }],
      fewestRunsPerDecided: 0.358,
    },
  },
});
