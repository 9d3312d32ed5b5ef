import { getMergeQueueMetrics as get } from '../../app/queue/get-merge-queue-metrics.ts';
import { getMergeQueueMetrics } from '../../contract/queues.ts';
import { HttpProblem } from '../core/problem.ts';
import { route } from '../core/route.ts';

export const getMergeQueueMetricsRoute = route(getMergeQueueMetrics, ({ app, caller, dialect }, { repo, repoHost }) => {
  const { hasAlarms } = dialect;
  if (repo === undefined && repoHost === undefined) return get(app, caller, { repo: undefined, hasAlarms });
  if (repo === undefined || repoHost === undefined) {
    const missing = repo === undefined ? 'repo' : 'repoHost';
    const message = 'is required: repo and repoHost go together';
    throw new HttpProblem('VALIDATION_FAILED', `${missing} ${message}.`, [{ path: `/${missing}`, message }]);
  }
  const slash = repo.lastIndexOf('/');
  const ref = { host: repoHost, owner: repo.slice(0, slash), name: repo.slice(slash + 1) };
  return get(app, caller, { repo: ref, hasAlarms });
});
