import { createQueue as create } from '../../app/create-queue.ts';
import { createQueue } from '../contract/queues.ts';
import { queueChanges } from '../parse.ts';
import { route } from '../route.ts';

export const createQueueRoute = route(createQueue, ({ app, caller }, body) =>
  create(app, caller, { repo: body.repo, targetBranch: body.targetBranch, ...queueChanges(body) }),
);
