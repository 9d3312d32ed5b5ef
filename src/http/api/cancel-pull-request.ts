import { cancelPullRequest as cancel } from '../../app/cancel-pull-request.ts';
import { cancelPullRequest } from '../contract/pull-requests.ts';
import { prNumber } from '../parse.ts';
import { route } from '../route.ts';

export const cancelPullRequestRoute = route(cancelPullRequest, ({ app, caller }, { repo, targetBranch, pr }) =>
  cancel(app, caller, { repo, targetBranch, prNumber: prNumber(pr.number) }),
);
