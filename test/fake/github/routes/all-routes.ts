import type { Route } from '../exchange.ts';
import type { RateLimits } from '../rate-limit.ts';
import type { Webhooks } from '../webhooks.ts';
import { actionRoutes } from './action-routes.ts';
import { appRoutes } from './app-routes.ts';
import { checkRoutes } from './check-routes.ts';
import { commitRoutes } from './commit-routes.ts';
import { contentRoutes } from './content-routes.ts';
import { hookRoutes } from './hook-routes.ts';
import { issueRoutes } from './issue-routes.ts';
import { labelRoutes } from './label-routes.ts';
import { metaRoutes } from './meta-routes.ts';
import { protectionRoutes } from './protection-routes.ts';
import { pullRoutes } from './pull-routes.ts';
import { refRoutes } from './ref-routes.ts';
import { repositoryRoutes } from './repository-routes.ts';
import { reviewRoutes } from './review-routes.ts';

export function allRoutes(limits: RateLimits, webhooks: Webhooks): readonly Route[] {
  return [
    ...appRoutes,
    ...hookRoutes(webhooks),
    ...repositoryRoutes,
    ...commitRoutes,
    ...contentRoutes,
    ...refRoutes,
    ...protectionRoutes,
    ...pullRoutes,
    ...reviewRoutes,
    ...issueRoutes,
    ...labelRoutes,
    ...checkRoutes,
    ...actionRoutes,
    ...metaRoutes(limits),
  ];
}
