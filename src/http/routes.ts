import { cancelPullRequestRoute } from './api/cancel-pull-request.ts';
import { createApiTokenRoute } from './api/create-api-token.ts';
import { createBackupRoute } from './api/create-backup.ts';
import { createBundleUploadRoute } from './api/create-bundle-upload.ts';
import { createOrganizationRoute } from './api/create-organization.ts';
import { createQueueRoute } from './api/create-queue.ts';
import { deleteMonitorRoute } from './api/delete-monitor.ts';
import { deleteQueueRoute } from './api/delete-queue.ts';
import { flagTestRoute } from './api/flag-test.ts';
import { getCandidateLogRoute } from './api/get-candidate-log.ts';
import { getMergeQueueMetricsRoute } from './api/get-merge-queue-metrics.ts';
import { getMergeQueueTestingDetailsRoute } from './api/get-merge-queue-testing-details.ts';
import { getQuarantineConfigRoute } from './api/get-quarantine-config.ts';
import { getQueueRoute } from './api/get-queue.ts';
import { getServerRoute } from './api/get-server.ts';
import { getSubmittedPullRequestRoute } from './api/get-submitted-pull-request.ts';
import { getSubmittedPullRequestsRoute } from './api/get-submitted-pull-requests.ts';
import { getTestDetailsRoute } from './api/get-test-details.ts';
import { getTestSettingsRoute } from './api/get-test-settings.ts';
import { ignoreUploadRoute } from './api/ignore-upload.ts';
import { inspectRepositoryRoute } from './api/inspect-repository.ts';
import { linkTicketToTestCaseRoute } from './api/link-ticket-to-test-case.ts';
import { listApiTokensRoute } from './api/list-api-tokens.ts';
import { listFailingTestsRoute } from './api/list-failing-tests.ts';
import { listMergeQueueTestingResultsRoute } from './api/list-merge-queue-testing-results.ts';
import { listMonitorsRoute } from './api/list-monitors.ts';
import { listPullRequestsRoute } from './api/list-pull-requests.ts';
import { listQuarantinedTestsRoute } from './api/list-quarantined-tests.ts';
import { listQueuesRoute } from './api/list-queues.ts';
import { listRepositoriesRoute } from './api/list-repositories.ts';
import { listTestEventsRoute } from './api/list-test-events.ts';
import { listTestRunsRoute } from './api/list-test-runs.ts';
import { listUnhealthyTestsRoute } from './api/list-unhealthy-tests.ts';
import { listUploadsRoute } from './api/list-uploads.ts';
import { muteMonitorRoute } from './api/mute-monitor.ts';
import { processUploadAgainRoute } from './api/process-upload-again.ts';
import { registerRepositoryRoute } from './api/register-repository.ts';
import { removeRepositoryRoute } from './api/remove-repository.ts';
import { reportCheckRoute } from './api/report-check.ts';
import { restartTestsOnPullRequestRoute } from './api/restart-tests-on-pull-request.ts';
import { restoreBackupRoute } from './api/restore-backup.ts';
import { revokeApiTokenRoute } from './api/revoke-api-token.ts';
import { searchTestsRoute } from './api/search-tests.ts';
import { setImpactedTargetsRoute } from './api/set-impacted-targets.ts';
import { setLabelRoute } from './api/set-label.ts';
import { setMonitorRoute } from './api/set-monitor.ts';
import { setQuarantineRoute } from './api/set-quarantine.ts';
import { submitPullRequestRoute } from './api/submit-pull-request.ts';
import { updateQueueRoute } from './api/update-queue.ts';
import { updateTestSettingsRoute } from './api/update-test-settings.ts';
import { uploadResultsRoute } from './api/upload-results.ts';
import type { Route } from './core/route.ts';

/** Every operation of the API, on every mount. */
export const ROUTES: readonly Route[] = [
  cancelPullRequestRoute,
  createApiTokenRoute,
  createBackupRoute,
  createBundleUploadRoute,
  createOrganizationRoute,
  createQueueRoute,
  deleteMonitorRoute,
  deleteQueueRoute,
  flagTestRoute,
  getCandidateLogRoute,
  getMergeQueueMetricsRoute,
  getMergeQueueTestingDetailsRoute,
  getQuarantineConfigRoute,
  getQueueRoute,
  getServerRoute,
  getSubmittedPullRequestRoute,
  getSubmittedPullRequestsRoute,
  getTestDetailsRoute,
  getTestSettingsRoute,
  ignoreUploadRoute,
  inspectRepositoryRoute,
  linkTicketToTestCaseRoute,
  listApiTokensRoute,
  listFailingTestsRoute,
  listMergeQueueTestingResultsRoute,
  listMonitorsRoute,
  listPullRequestsRoute,
  listQuarantinedTestsRoute,
  listQueuesRoute,
  listRepositoriesRoute,
  listTestEventsRoute,
  listTestRunsRoute,
  listUnhealthyTestsRoute,
  listUploadsRoute,
  muteMonitorRoute,
  processUploadAgainRoute,
  registerRepositoryRoute,
  removeRepositoryRoute,
  reportCheckRoute,
  restartTestsOnPullRequestRoute,
  restoreBackupRoute,
  revokeApiTokenRoute,
  searchTestsRoute,
  setImpactedTargetsRoute,
  setLabelRoute,
  setMonitorRoute,
  setQuarantineRoute,
  submitPullRequestRoute,
  updateQueueRoute,
  updateTestSettingsRoute,
  uploadResultsRoute,
];
