import type { Queue } from '../../engine/model/queue.ts';
import { IN_QUEUE_BOUNDS_S } from '../../engine/model/totals.ts';
import { type Gauge, gauge, type Histogram, type Labels } from '../../lib/exposition.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

interface CountedQueue {
  readonly labels: Labels;
  readonly queue: Queue;
  /** Nothing is in it, and nothing was in the last hour. */
  readonly isIdle: boolean;
}

// SPEC M13
export function describeTotals(queues: readonly CountedQueue[]): (Gauge | Histogram)[] {
  const used = queues.filter(({ queue }) => Object.keys(queue.totals.candidates).length > 0);
  const counter = (name: string, help: string, measure: (queue: Queue) => number) =>
    gauge(name, help, used, ({ queue }) => measure(queue), 'counter');
  return [
    byWords(queues, {
      name: 'sluice_pull_requests_total',
      help: 'Pull requests that left the queue, by how and why, and by who submitted them.',
      labels: ['conclusion', 'reason', 'submitter'],
      counts: ({ totals }) => totals.left,
    }),
    byWords(queues, {
      ...{ name: 'sluice_candidates_total', help: 'Candidates that ended, by what they tested and how they ended.' },
      ...{ labels: ['kind', 'conclusion'], counts: ({ totals }) => totals.candidates },
    }),
    byWords(queues, {
      ...{ name: 'sluice_failed_runs_total', help: 'Runs that failed, by what they tested and the cause.' },
      ...{ labels: ['kind', 'cause'], counts: ({ totals }) => totals.causes ?? {} },
    }),
    counter('sluice_ci_seconds_total', 'Time that candidates were under test.', ({ totals }) => totals.ciMs / 1_000),
    counter(
      'sluice_reused_trees_total',
      'Candidates that passed without a run, because their tree had passed before.',
      ({ totals }) => totals.reusedTrees,
    ),
    counter(
      'sluice_waived_total',
      'Required checks that failed only in quarantined tests and were waived.',
      ({ totals }) => totals.waived,
    ),
    timeInQueue(queues),
  ];
}

interface Words {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** By words with spaces between them, one for each label. A third one that is left out is a person. */
  readonly counts: (queue: Queue) => Readonly<Record<string, number>>;
}

function byWords(queues: readonly CountedQueue[], { name, help, labels: names, counts }: Words): Gauge {
  const samples = queues.flatMap(({ labels, queue }) =>
    Object.entries(counts(queue)).map(([key, value]) => {
      const words = key.toLowerCase().split(' ');
      return {
        labels: { ...labels, ...Object.fromEntries(names.map((each, at) => [each, words[at] ?? 'person'])) },
        value,
      };
    }),
  );
  return { type: 'counter', name, help, samples };
}

/** Left-out buckets are back long before the next pull request leaves and counts, so that no increase is lost. */
// SPEC M14
function timeInQueue(queues: readonly CountedQueue[]): Histogram {
  return {
    type: 'histogram',
    name: 'sluice_time_in_queue_seconds',
    help: 'Time from admission to leaving, for all pull requests that left.',
    bounds: IN_QUEUE_BOUNDS_S,
    samples: queues
      .filter(({ isIdle, queue }) => !isIdle && queue.totals.inQueue.length > 0)
      .map(({ labels, queue: { totals } }) => ({ labels, counts: totals.inQueue, sum: totals.inQueueMs / 1_000 })),
  };
}

/** Tests by status, and uploads whose results do not count yet. Both are stored counts or short lists, never a scan. */
// SPEC M15
export async function describeTests({ store }: App, repositories: readonly Repository[]): Promise<readonly Gauge[]> {
  const ids = repositories.map(({ id }) => id);
  const counts = new Map((await store.tests.countByStatus(ids)).map((each) => [each.repositoryId, each]));
  const waiting = new Map((await store.uploads.countWaiting(ids)).map((each) => [each.repositoryId, each.waiting]));
  const known = repositories.flatMap((repository) => {
    const labels = { repo: `${repository.owner}/${repository.name}`, repo_host: repository.host };
    const found = counts.get(repository.id);
    return found === undefined ? [] : [{ ...found, labels, waiting: waiting.get(repository.id) ?? 0 }];
  });
  const byStatus = known.flatMap(({ labels, all, flaky, broken }) =>
    Object.entries({ healthy: all - flaky - broken, flaky, broken }).map(([status, count]) => ({
      ...{ labels: { ...labels, status }, count },
    })),
  );
  return [
    gauge('sluice_tests', 'Tests of the repository, by status.', byStatus, ({ count }) => count),
    gauge('sluice_flaky_tests', 'Tests of the repository that are flaky now.', known, ({ flaky }) => flaky),
    gauge(
      'sluice_uploads_waiting',
      'Uploads of the repository that are not processed yet.',
      known,
      (each) => each.waiting,
    ),
  ];
}
