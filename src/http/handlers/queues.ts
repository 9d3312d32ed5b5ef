import type { Static } from 'typebox';
import { adviseQueue, type TriedSettings } from '../../app/advice/advise-queue.ts';
import { getCandidateLog } from '../../app/queue/get-candidate-log.ts';
import { getMergeQueueMetrics } from '../../app/queue/get-merge-queue-metrics.ts';
import { getMergeQueueTestingDetails } from '../../app/queue/get-merge-queue-testing-details.ts';
import { getQueueHealth } from '../../app/queue/get-queue-health.ts';
import { listMergeQueueTestingResults } from '../../app/queue/list-merge-queue-testing-results.ts';
import { listQueueMoments } from '../../app/queue/list-queue-moments.ts';
import { listQueues } from '../../app/queue/list-queues.ts';
import { createQueue, deleteQueue, getQueue, updateQueue } from '../../app/queue/queues.ts';
import { reportCheck, type TestRunName } from '../../app/queue/report-check.ts';
import * as candidateLogContract from '../../contract/candidate-log.ts';
import * as healthContract from '../../contract/queue-health.ts';
import * as queuesContract from '../../contract/queues.ts';
import { upper } from '../../contract/schema.ts';
import { parseSettings } from '../../contract/settings.ts';
import * as testingContract from '../../contract/testing.ts';
import type { CheckConclusion, CheckStatus } from '../../engine/model/check.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { instant, optionalInstant, queueChanges, queueRef } from '../core/parse.ts';
import { type RequestContext, type Route, route } from '../core/route.ts';

export const QUEUES_ROUTES: readonly Route[] = [
  route(queuesContract.createQueue, ({ app, caller }, body) =>
    createQueue(app, caller, { ...queueRef(body), ...queueChanges(body) }),
  ),
  route(queuesContract.getQueue, readQueue, { isReused: true }),
  route(queuesContract.pollQueue, readQueue, { isReused: true }),
  route(queuesContract.listQueues, ({ app, caller }, { repo }) => listQueues(app, caller, { repo }), {
    isReused: true,
  }),
  route(queuesContract.listQueueMoments, ({ app, caller }, { repo, targetBranch, after, before, cursor, limit = 50 }) =>
    listQueueMoments(app, caller, {
      ...{ repo, targetBranch, limit },
      after: optionalInstant('/after', after),
      before: optionalInstant('/before', before),
      cursor: cursor === undefined ? undefined : Number(cursor),
    }),
  ),
  route(queuesContract.updateQueue, ({ app, caller, dialect }, body) => {
    const { settings, state } = queueChanges(body);
    const [addFreeze] =
      body.addFreeze === undefined ? [] : (parseSettings({ freezes: [body.addFreeze] }).freezes ?? []);
    const cleared = body.deleteRequiredStatuses === true ? { requiredStatuses: null } : {};
    return updateQueue(app, caller, {
      ...queueRef(body),
      settings: { ...settings, ...cleared },
      state,
      ...present({ reason: body.reason, until: body.until === undefined ? undefined : instant('/until', body.until) }),
      ...present({ addFreeze, removeFreeze: body.removeFreeze }),
      keepsUnnamedSettings: dialect.keepsUnnamedSettings,
    });
  }),
  route(queuesContract.adviseQueue, ({ app, caller }, { repo, targetBranch, settings }) =>
    adviseQueue(app, caller, { repo, targetBranch, settings: settings as TriedSettings | undefined }),
  ),
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

export const CANDIDATES_ROUTES: readonly Route[] = [
  route(healthContract.getQueueHealth, ({ app, caller }, body) =>
    getQueueHealth(app, caller, { ...queueRef(body), days: body.days ?? 7 }),
  ),
  route(testingContract.getMergeQueueTestingDetails, ({ app, caller }, body) => {
    const { testRunId, includeDecided: isDecidedIncluded = false, at } = body;
    const chosen = { ...queueRef(body), testRunId, isDecidedIncluded, at: optionalInstant('/at', at) };
    return getMergeQueueTestingDetails(app, caller, chosen);
  }),
  route(testingContract.listMergeQueueTestingResults, ({ app, caller }, body) =>
    listMergeQueueTestingResults(app, caller, {
      ...queueRef(body),
      since: instant('/since', body.since),
      until: body.until === undefined ? undefined : instant('/until', body.until),
      offset: body.offset ?? 0,
      take: body.take ?? 50,
    }),
  ),
  route(candidateLogContract.getCandidateLog, ({ app, caller }, body) => {
    const { repo, targetBranch, testRunId, check, offset = 0 } = body;
    const queue = repo === undefined || targetBranch === undefined ? undefined : { repo, targetBranch };
    return getCandidateLog(app, caller, { testRunId, queue, check, offset });
  }),
  route(testingContract.reportCheck, ({ app, caller }, body) => {
    const { repo, name, url, summary, startedAt } = body;
    const status = parseStatus(body.status);
    const conclusion = body.conclusion === undefined ? undefined : (upper(body.conclusion) as CheckConclusion);
    const check = {
      name,
      status,
      conclusion,
      startedAt: startedAt === undefined ? undefined : instant('/startedAt', startedAt),
      url,
      summary,
    };
    return reportCheck(app, caller, { repo, of: parseName(body), check });
  }),
];

function readQueue({ app, caller }: RequestContext, body: Static<typeof queuesContract.getQueue.body>) {
  const { repo, targetBranch, includeExplanation = false, includeForecast = false, at } = body;
  const asked = { repo, targetBranch, includeExplanation, includeForecast };
  return getQueue(app, caller, { ...asked, at: optionalInstant('/at', at) });
}

function parseStatus(given: string): CheckStatus {
  const status = given.toUpperCase();
  return status === 'PENDING' ? 'QUEUED' : (status as CheckStatus);
}

/** The contract guarantees that exactly one is given. */
function parseName({ testRunId, sha }: { readonly testRunId?: string; readonly sha?: string }): TestRunName {
  return testRunId === undefined ? { sha: (sha ?? '').toLowerCase() as Sha } : { testRunId };
}
