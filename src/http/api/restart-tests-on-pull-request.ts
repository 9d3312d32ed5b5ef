import { restartTestsOnPullRequest as restart } from '../../app/queue/restart-tests-on-pull-request.ts';
import { restartTestsOnPullRequest } from '../../contract/pull-requests.ts';
import { prNumber } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const restartTestsOnPullRequestRoute = route(
  restartTestsOnPullRequest,
  ({ app, caller }, { repo, targetBranch, pr }) =>
    restart(app, caller, { repo, targetBranch, prNumber: prNumber(pr.number) }),
);
