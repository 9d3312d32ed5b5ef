import type { Route } from './core/route.ts';
import { ACCESS_ROUTES, REPOSITORIES_ROUTES, SERVER_ROUTES } from './handlers/administration.ts';
import { EVENTS_ROUTES } from './handlers/events.ts';
import { PULL_REQUESTS_ROUTES } from './handlers/pull-requests.ts';
import { QUEUES_ROUTES } from './handlers/queues.ts';
import { TESTS_ROUTES } from './handlers/tests.ts';
import { UPLOADS_ROUTES } from './handlers/uploads.ts';
import { WEBHOOKS_ROUTES } from './handlers/webhooks.ts';

/** Every operation of the API, on every mount. */
export const ROUTES: readonly Route[] = [
  ...ACCESS_ROUTES,
  ...SERVER_ROUTES,
  ...REPOSITORIES_ROUTES,
  ...QUEUES_ROUTES,
  ...EVENTS_ROUTES,
  ...WEBHOOKS_ROUTES,
  ...PULL_REQUESTS_ROUTES,
  ...TESTS_ROUTES,
  ...UPLOADS_ROUTES,
];
