import { submitPullRequest as submit } from '../../app/queue/submit-pull-request.ts';
import { submitPullRequest } from '../../contract/pull-requests.ts';
import type { Sha } from '../../lib/sha.ts';
import { prNumber } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const submitPullRequestRoute = route(
  submitPullRequest,
  ({ app, caller }, { repo, targetBranch, pr, priority, noBatch, repair }) =>
    submit(app, caller, {
      ...{ repo, targetBranch, prNumber: prNumber(pr.number), priority, noBatch, repair },
      sha: pr.sha?.toLowerCase() as Sha | undefined,
    }),
);
