import { deleteQueue as remove } from '../../app/queue/delete-queue.ts';
import { deleteQueue } from '../../contract/queues.ts';
import { route } from '../core/route.ts';

export const deleteQueueRoute = route(deleteQueue, ({ app, caller }, { repo, targetBranch }) =>
  remove(app, caller, { repo, targetBranch }),
);
