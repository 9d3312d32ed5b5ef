import { createApiToken as create } from '../../app/create-api-token.ts';
import { createApiToken } from '../contract/access.ts';
import { instant } from '../parse.ts';
import { route } from '../route.ts';

export const createApiTokenRoute = route(createApiToken, ({ app, caller }, { name, scopes, repositories, expiresAt }) =>
  create(app, caller, {
    name,
    scopes,
    repositories,
    expiresAt: expiresAt === undefined ? undefined : instant('/expiresAt', expiresAt),
  }),
);
