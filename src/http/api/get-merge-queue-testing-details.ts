import { getMergeQueueTestingDetails as get } from '../../app/queue/get-merge-queue-testing-details.ts';
import { getMergeQueueTestingDetails } from '../../contract/testing.ts';
import { route } from '../core/route.ts';

export const getMergeQueueTestingDetailsRoute = route(
  getMergeQueueTestingDetails,
  ({ app, caller }, { repo, targetBranch, testRunId }) => get(app, caller, { repo, targetBranch, testRunId }),
);
