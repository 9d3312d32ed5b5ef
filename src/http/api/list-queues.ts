import { listQueues as list } from '../../app/list-queues.ts';
import { listQueues } from '../contract/queues.ts';
import { route } from '../route.ts';

export const listQueuesRoute = route(listQueues, ({ app, caller }, { repo }) => list(app, caller, { repo }), {
  isReused: true,
});
