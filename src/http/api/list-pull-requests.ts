import { listPullRequests as list } from '../../app/queue/list-pull-requests.ts';
import { listPullRequests } from '../../contract/pull-requests.ts';
import { upper } from '../../contract/schema.ts';
import { instant } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listPullRequestsRoute = route(listPullRequests, ({ app, caller }, body) =>
  list(app, caller, {
    repo: body.repo,
    targetBranch: body.targetBranch,
    state: body.state === undefined ? undefined : upper(body.state),
    since: body.since === undefined ? undefined : instant('/since', body.since),
    until: body.until === undefined ? undefined : instant('/until', body.until),
    cursor: body.cursor?.toLowerCase(),
    take: body.take ?? 50,
  }),
);
