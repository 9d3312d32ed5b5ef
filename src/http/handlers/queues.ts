import { getMergeQueueMetrics } from '../../app/queue/get-merge-queue-metrics.ts';
import { listQueues } from '../../app/queue/list-queues.ts';
import { createQueue, deleteQueue, getQueue, updateQueue } from '../../app/queue/queues.ts';
import * as queuesContract from '../../contract/queues.ts';
import { present } from '../../lib/present.ts';
import { instant, queueChanges, queueRef } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';

export const QUEUES_ROUTES: readonly Route[] = [
  route(queuesContract.createQueue, ({ app, caller }, body) =>
    createQueue(app, caller, { ...queueRef(body), ...queueChanges(body) }),
  ),
  route(
    queuesContract.getQueue,
    ({ app, caller }, { repo, targetBranch, includeExplanation = false }) =>
      getQueue(app, caller, { repo, targetBranch, includeExplanation }),
    { isReused: true },
  ),
  route(queuesContract.listQueues, ({ app, caller }, { repo }) => listQueues(app, caller, { repo }), {
    isReused: true,
  }),
  route(queuesContract.updateQueue, ({ app, caller, dialect }, body) => {
    const { settings, state } = queueChanges(body);
    const cleared = body.deleteRequiredStatuses === true ? { requiredStatuses: null } : {};
    return updateQueue(app, caller, {
      ...queueRef(body),
      settings: { ...settings, ...cleared },
      state,
      ...present({ reason: body.reason, until: body.until === undefined ? undefined : instant('/until', body.until) }),
      keepsUnnamedSettings: dialect.keepsUnnamedSettings,
    });
  }),
  route(queuesContract.deleteQueue, ({ app, caller }, { repo, targetBranch }) =>
    deleteQueue(app, caller, { repo, targetBranch }),
  ),
  route(queuesContract.getMergeQueueMetrics, ({ app, caller, dialect }, { repo, repoHost }) => {
    const { hasAlarms } = dialect;
    if (repo === undefined || repoHost === undefined) {
      return getMergeQueueMetrics(app, caller, { repo: undefined, hasAlarms });
    }
    const slash = repo.lastIndexOf('/');
    const ref = { host: repoHost, owner: repo.slice(0, slash), name: repo.slice(slash + 1) };
    return getMergeQueueMetrics(app, caller, { repo: ref, hasAlarms });
  }),
];
