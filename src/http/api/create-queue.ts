import { createQueue as create } from '../../app/queue/create-queue.ts';
import { createQueue } from '../../contract/queues.ts';
import { queueChanges } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const createQueueRoute = route(createQueue, ({ app, caller }, body) =>
  create(app, caller, { repo: body.repo, targetBranch: body.targetBranch, ...queueChanges(body) }),
);
