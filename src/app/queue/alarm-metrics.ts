import { ALARM_CODES } from '../../engine/effect.ts';
import type { Gauge } from '../../lib/exposition.ts';
import type { App } from '../core/app.ts';
import type { FoundQueue } from '../core/find-queue.ts';

/** Every code has a series from the start, so that the first alarm shows as an increase. */
export async function countAlarms({ store }: App, queues: readonly FoundQueue[]): Promise<Gauge> {
  const rows = await store.alarms.count(queues.map(({ id }) => id));
  const counts = new Map(rows.map(({ queueId, code, count }) => [`${queueId} ${code}`, count]));
  return {
    type: 'counter',
    name: 'mq_alarms_total',
    help: 'Alarms that were raised, by code.',
    samples: queues.flatMap(({ id, repository, queue }) =>
      ALARM_CODES.map((code) => ({
        labels: {
          repo: `${repository.owner}/${repository.name}`,
          branch: queue.branch,
          repo_host: repository.host,
          code: code.toLowerCase(),
        },
        value: counts.get(`${id} ${code}`) ?? 0,
      })),
    ),
  };
}

export function gaugeHolds(queues: readonly FoundQueue[]): Gauge {
  return {
    type: 'gauge',
    name: 'mq_queue_held',
    help: 'Whether the queue holds because its target branch fails by itself, or its configuration cannot be used.',
    samples: queues.map(({ repository, queue }) => ({
      labels: {
        repo: `${repository.owner}/${repository.name}`,
        branch: queue.branch,
        repo_host: repository.host,
      },
      value: queue.hold === undefined ? 0 : 1,
    })),
  };
}
