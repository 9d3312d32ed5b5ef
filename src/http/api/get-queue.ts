import { getQueue as get } from '../../app/get-queue.ts';
import { getQueue } from '../contract/queues.ts';
import { route } from '../route.ts';

export const getQueueRoute = route(
  getQueue,
  ({ app, caller }, { repo, targetBranch }) => get(app, caller, { repo, targetBranch }),
  { isReused: true },
);
