import type { ReplyOf } from '../../contract/operation.ts';
import type * as queuesContract from '../../contract/queues.ts';
import type { WithRequired } from '../../contract/schema.ts';
import { LIVE_STATES, type Queue } from '../../engine/model/queue.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { memo } from '../../lib/memo.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import { listRecentAlarms, type RecentAlarms } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { type FoundQueue, findRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { viewAlarms, viewQueueConfig } from './queue-view.ts';

export async function listQueues(
  app: App,
  caller: Caller,
  input: { readonly repo?: RepositoryRef },
): Answer<QueueList> {
  const repositories = await selectRepositories(app, caller, input.repo);
  if (isRefusal(repositories)) return repositories;
  const found = await loadQueues(app, repositories);
  const alarms = await listRecentAlarms(
    app,
    found.map(({ id }) => id),
  );
  const shown = found.map(({ repository, queue }, index) => ({ repository, queue, alarms: alarms[index] ?? [] }));
  return shown[0] === undefined ? { queues: [] } : listFrom(shown[0].queue, shown);
}

type Shown = Pick<FoundQueue, 'repository' | 'queue'> & { readonly alarms: RecentAlarms };

type QueueSummary = WithRequired<ReplyOf<typeof queuesContract.listQueues>['queues'][number], 'alarms'>;

interface QueueList {
  readonly queues: readonly QueueSummary[];
}

/** Caches the reply by the first of its queues. */
const listFrom = memo(
  (_first: Queue, found: readonly Shown[]): QueueList => ({
    queues: found.map(({ repository, queue, alarms }) => summaryOf(queue, alarms, repository)),
  }),
  (_first, found) => found.flatMap(({ queue, alarms }) => [queue, alarms]),
);

// SPEC M2
export async function selectRepositories(
  app: App,
  caller: Caller,
  ref: RepositoryRef | undefined,
): Answer<readonly Repository[]> {
  if (ref === undefined) {
    const all = await app.directory.listRepositories(caller.organization.id);
    return all.filter((repository) => maySee(caller, repository));
  }
  const repository = await findRepository(app, caller, ref);
  return isRefusal(repository) ? repository : [repository];
}

export async function loadQueues(app: App, repositories: readonly Repository[]): Promise<FoundQueue[]> {
  const found: FoundQueue[] = [];
  for (const repository of repositories) {
    const queueIds = await app.directory.listQueueIds(repository.id);
    // In parallel: on a shared store each of them is a query.
    for (const loaded of await Promise.all(queueIds.map((queueId) => app.queues.find(queueId)))) {
      if (loaded !== undefined) found.push({ ...loaded, repository });
    }
  }
  return found;
}

/** A queue is immutable and belongs to one repository for good. */
const summaryOf = memo(
  (queue: Queue, alarms: RecentAlarms, { host, owner, name }: Repository): QueueSummary => ({
    ...viewQueueConfig(queue),
    repo: { host, owner, name },
    alarms: viewAlarms(alarms),
    counts: countByState(queue),
  }),
  (_queue, alarms) => [alarms],
);

export function countByState(queue: Queue): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(LIVE_STATES.map((state) => [state, 0]));
  for (const entry of valuesOf(queue.entries)) counts[entry.state] = (counts[entry.state] ?? 0) + 1;
  return counts;
}
