import { getSubmittedPullRequests as get } from '../../app/queue/get-submitted-pull-request.ts';
import { getSubmittedPullRequests } from '../../contract/pull-requests.ts';
import { prNumber } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const getSubmittedPullRequestsRoute = route(getSubmittedPullRequests, ({ app, caller }, body) =>
  get(app, caller, {
    repo: body.repo,
    targetBranch: body.targetBranch,
    prNumbers: body.prs.map((pr) => prNumber(pr.number)),
    includeTimeline: body.includeTimeline === true,
    includeExplanation: body.includeExplanation === true,
  }),
);
