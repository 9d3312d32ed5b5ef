import type { Ask, Route } from '../exchange.ts';
import type { RateLimits } from '../rate-limit.ts';
import { ok } from './tools.ts';

export function metaRoutes(limits: RateLimits): readonly Route[] {
  return [
    { method: 'GET', path: '/rate_limit', handle: (ask) => ok(rateLimit(ask, limits)) },
    { method: 'GET', path: '/meta', handle: () => ok({ verifiable_password_authentication: false }) },
  ];
}

function rateLimit({ payer }: Ask, limits: RateLimits) {
  const core = limits.find(payer, 'core');
  return { resources: { core, search: core, graphql: limits.find(payer, 'graphql') }, rate: core };
}
