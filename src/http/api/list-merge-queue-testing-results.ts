import { listMergeQueueTestingResults as list } from '../../app/list-merge-queue-testing-results.ts';
import { listMergeQueueTestingResults } from '../contract/testing.ts';
import { instant } from '../parse.ts';
import { route } from '../route.ts';

export const listMergeQueueTestingResultsRoute = route(listMergeQueueTestingResults, ({ app, caller }, body) =>
  list(app, caller, {
    repo: body.repo,
    targetBranch: body.targetBranch,
    since: instant('/since', body.since),
    until: body.until === undefined ? undefined : instant('/until', body.until),
    offset: body.offset ?? 0,
    take: body.take ?? 50,
  }),
);
