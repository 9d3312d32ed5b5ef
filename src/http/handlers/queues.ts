import { adviseQueue, type TriedSettings } from '../../app/advice/advise-queue.ts';
import { findSavings } from '../../app/advice/lane-savings.ts';
import type { QueueRef } from '../../app/core/find-queue.ts';
import { isRefusal } from '../../app/core/refusal.ts';
import { findBreakage } from '../../app/queue/find-breakage.ts';
import { getCandidateLog } from '../../app/queue/get-candidate-log.ts';
import { getMergeQueueMetrics } from '../../app/queue/get-merge-queue-metrics.ts';
import { getMergeQueueTestingDetails } from '../../app/queue/get-merge-queue-testing-details.ts';
import { getQueueHealth } from '../../app/queue/get-queue-health.ts';
import { getTestRunInfo } from '../../app/queue/get-test-run-info.ts';
import { listMergeQueueTestingResults } from '../../app/queue/list-merge-queue-testing-results.ts';
import { listQueues } from '../../app/queue/list-queues.ts';
import { listQueueMoments } from '../../app/queue/past.ts';
import { createQueue, deleteQueue, getQueue, type QueueChanges, updateQueue } from '../../app/queue/queues.ts';
import { reportCheck } from '../../app/queue/report-check.ts';
import { revertPullRequest } from '../../app/queue/revert-pull-request.ts';
import * as breakageContract from '../../contract/breakage.ts';
import * as candidateLogContract from '../../contract/candidate-log.ts';
import * as healthContract from '../../contract/queue-health.ts';
import * as queuesContract from '../../contract/queues.ts';
import { parseSettings } from '../../contract/settings.ts';
import * as testingContract from '../../contract/testing.ts';
import type { CheckConclusion } from '../../engine/model/check.ts';
import type { RequestableQueueState } from '../../engine/model/queue.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { type Route, route } from '../core/route.ts';

export const QUEUES_ROUTES: readonly Route[] = [
  route(queuesContract.createQueue, (app, caller, body) =>
    createQueue(app, caller, { ...queueRef(body), ...queueChanges(body) }),
  ),
  route(queuesContract.getQueue, getQueue, { isReused: true }),
  route(queuesContract.pollQueue, getQueue, { isReused: true }),
  route(queuesContract.listQueues, listQueues, { isReused: true }),
  route(queuesContract.listQueueMoments, listQueueMoments),
  route(queuesContract.updateQueue, (app, caller, body, { dialect: { keepsUnnamedSettings } }) => {
    const { reason, until, removeFreeze } = body;
    const { settings, state } = queueChanges(body);
    const [addFreeze] = parseSettings({ freezes: body.addFreeze && [body.addFreeze] }).freezes ?? [];
    const cleared = body.deleteRequiredStatuses === true ? { requiredStatuses: null } : {};
    return updateQueue(app, caller, {
      ...queueRef(body),
      settings: { ...settings, ...cleared },
      state,
      ...present({ reason, until, addFreeze, removeFreeze }),
      keepsUnnamedSettings,
    });
  }),
  route(queuesContract.adviseQueue, (app, caller, { repo, targetBranch, settings }) =>
    adviseQueue(app, caller, { repo, targetBranch, settings: settings as TriedSettings | undefined }),
  ),
  route(queuesContract.deleteQueue, deleteQueue),
  route(breakageContract.findBreakage, findBreakage),
  route(breakageContract.revertPullRequest, revertPullRequest),
  route(queuesContract.getMergeQueueMetrics, (app, caller, { repo, repoHost: host }, { dialect: { hasAlarms } }) => {
    if (repo === undefined || host === undefined) {
      return getMergeQueueMetrics(app, caller, { repo: undefined, hasAlarms });
    }
    const slash = repo.lastIndexOf('/');
    const ref = { host, owner: repo.slice(0, slash), name: repo.slice(slash + 1) };
    return getMergeQueueMetrics(app, caller, { repo: ref, hasAlarms });
  }),
  route(healthContract.getQueueHealth, async (app, caller, body) => {
    const savings = await findSavings(app, caller, body);
    return isRefusal(savings) ? savings : getQueueHealth(app, caller, body, savings);
  }),
  route(testingContract.getMergeQueueTestingDetails, getMergeQueueTestingDetails),
  route(testingContract.getTestRunInfo, getTestRunInfo),
  route(testingContract.listMergeQueueTestingResults, listMergeQueueTestingResults),
  route(candidateLogContract.getCandidateLog, getCandidateLog),
  route(testingContract.reportCheck, (app, caller, { repo, testRunId, sha, ...body }) => {
    const { name, conclusion, url, summary, startedAt } = body;
    const status = body.status === 'PENDING' ? 'QUEUED' : body.status;
    const check = { name, status, conclusion: conclusion as CheckConclusion | undefined, startedAt, url, summary };
    // The contract guarantees that exactly one is given.
    const of = testRunId === undefined ? { sha: sha as Sha } : { testRunId };
    return reportCheck(app, caller, { repo, of, check });
  }),
];

function queueRef({ repo, targetBranch }: QueueRef): QueueRef {
  return { repo, targetBranch };
}

function queueChanges(body: Readonly<Record<string, unknown>>): QueueChanges {
  return { settings: parseSettings(body), state: body['state'] as RequestableQueueState | undefined };
}
