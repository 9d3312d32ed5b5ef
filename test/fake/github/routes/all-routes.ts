import type { Route } from '../exchange.ts';
import type { RateLimits } from '../rate-limit.ts';
import { actionRoutes } from './action-routes.ts';
import { appRoutes } from './app-routes.ts';
import { checkRoutes } from './check-routes.ts';
import { contentRoutes } from './content-routes.ts';
import { issueRoutes } from './issue-routes.ts';
import { metaRoutes } from './meta-routes.ts';
import { protectionRoutes } from './protection-routes.ts';
import { pullRoutes } from './pull-routes.ts';
import { refRoutes } from './ref-routes.ts';
import { repositoryRoutes } from './repository-routes.ts';

export function allRoutes(limits: RateLimits): readonly Route[] {
  return [
    ...appRoutes,
    ...repositoryRoutes,
    ...contentRoutes,
    ...refRoutes,
    ...protectionRoutes,
    ...pullRoutes,
    ...issueRoutes,
    ...checkRoutes,
    ...actionRoutes,
    ...metaRoutes(limits),
  ];
}
