import { listQueues as list } from '../../app/queue/list-queues.ts';
import { listQueues } from '../../contract/queues.ts';
import { route } from '../core/route.ts';

export const listQueuesRoute = route(listQueues, ({ app, caller }, { repo }) => list(app, caller, { repo }), {
  isReused: true,
});
