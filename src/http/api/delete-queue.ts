import { deleteQueue as remove } from '../../app/delete-queue.ts';
import { deleteQueue } from '../contract/queues.ts';
import { route } from '../route.ts';

export const deleteQueueRoute = route(deleteQueue, ({ app, caller }, { repo, targetBranch }) =>
  remove(app, caller, { repo, targetBranch }),
);
