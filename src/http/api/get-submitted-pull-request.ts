import { getSubmittedPullRequest as get } from '../../app/queue/get-submitted-pull-request.ts';
import { getSubmittedPullRequest } from '../../contract/pull-requests.ts';
import { prNumber } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const getSubmittedPullRequestRoute = route(
  getSubmittedPullRequest,
  ({ app, caller }, body) =>
    get(app, caller, {
      repo: body.repo,
      targetBranch: body.targetBranch,
      pr: 'branch' in body.pr ? { branch: body.pr.branch } : { number: prNumber(body.pr.number) },
      includeTimeline: body.includeTimeline === true,
      includeExplanation: body.includeExplanation === true,
    }),
  { isReused: true },
);
