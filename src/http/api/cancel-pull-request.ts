import { cancelPullRequest as cancel } from '../../app/queue/cancel-pull-request.ts';
import { cancelPullRequest } from '../../contract/pull-requests.ts';
import { prNumber } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const cancelPullRequestRoute = route(cancelPullRequest, ({ app, caller }, { repo, targetBranch, pr }) =>
  cancel(app, caller, { repo, targetBranch, prNumber: prNumber(pr.number) }),
);
