import { cancelPullRequestRoute } from './api/cancel-pull-request.ts';
import { createApiTokenRoute } from './api/create-api-token.ts';
import { createBackupRoute } from './api/create-backup.ts';
import { createOrganizationRoute } from './api/create-organization.ts';
import { createQueueRoute } from './api/create-queue.ts';
import { deleteQueueRoute } from './api/delete-queue.ts';
import { getCandidateLogRoute } from './api/get-candidate-log.ts';
import { getMergeQueueMetricsRoute } from './api/get-merge-queue-metrics.ts';
import { getMergeQueueTestingDetailsRoute } from './api/get-merge-queue-testing-details.ts';
import { getQueueRoute } from './api/get-queue.ts';
import { getSubmittedPullRequestRoute } from './api/get-submitted-pull-request.ts';
import { getSubmittedPullRequestsRoute } from './api/get-submitted-pull-requests.ts';
import { getTestDetailsRoute } from './api/get-test-details.ts';
import { listApiTokensRoute } from './api/list-api-tokens.ts';
import { listFailingTestsRoute } from './api/list-failing-tests.ts';
import { listMergeQueueTestingResultsRoute } from './api/list-merge-queue-testing-results.ts';
import { listPullRequestsRoute } from './api/list-pull-requests.ts';
import { listQuarantinedTestsRoute } from './api/list-quarantined-tests.ts';
import { listQueuesRoute } from './api/list-queues.ts';
import { listRepositoriesRoute } from './api/list-repositories.ts';
import { listUnhealthyTestsRoute } from './api/list-unhealthy-tests.ts';
import { registerRepositoryRoute } from './api/register-repository.ts';
import { removeRepositoryRoute } from './api/remove-repository.ts';
import { reportCheckRoute } from './api/report-check.ts';
import { restartTestsOnPullRequestRoute } from './api/restart-tests-on-pull-request.ts';
import { restoreBackupRoute } from './api/restore-backup.ts';
import { revokeApiTokenRoute } from './api/revoke-api-token.ts';
import { setImpactedTargetsRoute } from './api/set-impacted-targets.ts';
import { submitPullRequestRoute } from './api/submit-pull-request.ts';
import { updateQueueRoute } from './api/update-queue.ts';
import type { Route } from './route.ts';

/** Every operation of the API, on every mount. */
export const ROUTES: readonly Route[] = [
  cancelPullRequestRoute,
  createApiTokenRoute,
  createBackupRoute,
  createOrganizationRoute,
  createQueueRoute,
  deleteQueueRoute,
  getCandidateLogRoute,
  getMergeQueueMetricsRoute,
  getMergeQueueTestingDetailsRoute,
  getQueueRoute,
  getSubmittedPullRequestRoute,
  getSubmittedPullRequestsRoute,
  getTestDetailsRoute,
  listApiTokensRoute,
  listFailingTestsRoute,
  listMergeQueueTestingResultsRoute,
  listPullRequestsRoute,
  listQuarantinedTestsRoute,
  listQueuesRoute,
  listRepositoriesRoute,
  listUnhealthyTestsRoute,
  registerRepositoryRoute,
  removeRepositoryRoute,
  reportCheckRoute,
  restartTestsOnPullRequestRoute,
  restoreBackupRoute,
  revokeApiTokenRoute,
  setImpactedTargetsRoute,
  submitPullRequestRoute,
  updateQueueRoute,
];
