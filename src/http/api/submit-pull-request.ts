import { submitPullRequest as submit } from '../../app/submit-pull-request.ts';
import type { Sha } from '../../engine/pull-request.ts';
import { submitPullRequest } from '../contract/pull-requests.ts';
import { prNumber } from '../parse.ts';
import { route } from '../route.ts';

export const submitPullRequestRoute = route(
  submitPullRequest,
  ({ app, caller }, { repo, targetBranch, pr, priority, noBatch, repair }) =>
    submit(app, caller, {
      ...{ repo, targetBranch, prNumber: prNumber(pr.number), priority, noBatch, repair },
      sha: pr.sha?.toLowerCase() as Sha | undefined,
    }),
);
