import { listMergeQueueTestingResults as list } from '../../app/queue/list-merge-queue-testing-results.ts';
import { listMergeQueueTestingResults } from '../../contract/testing.ts';
import { instant } from '../core/parse.ts';
import { route } from '../core/route.ts';

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
