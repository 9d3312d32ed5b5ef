import { getQueue as get } from '../../app/queue/get-queue.ts';
import { getQueue } from '../../contract/queues.ts';
import { route } from '../core/route.ts';

export const getQueueRoute = route(
  getQueue,
  ({ app, caller }, { repo, targetBranch }) => get(app, caller, { repo, targetBranch }),
  { isReused: true },
);
