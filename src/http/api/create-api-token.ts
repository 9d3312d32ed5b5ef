import { createApiToken as create } from '../../app/access/create-api-token.ts';
import { createApiToken } from '../../contract/access.ts';
import { instant } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const createApiTokenRoute = route(createApiToken, ({ app, caller }, { name, scopes, repositories, expiresAt }) =>
  create(app, caller, {
    name,
    scopes,
    repositories,
    expiresAt: expiresAt === undefined ? undefined : instant('/expiresAt', expiresAt),
  }),
);
