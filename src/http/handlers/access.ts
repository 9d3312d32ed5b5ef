import { createApiToken } from '../../app/access/create-api-token.ts';
import { createOrganization } from '../../app/access/create-organization.ts';
import { listApiTokens } from '../../app/access/list-api-tokens.ts';
import { revokeApiToken } from '../../app/access/revoke-api-token.ts';
import * as accessContract from '../../contract/access.ts';
import { instant } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';

export const ACCESS_ROUTES: readonly Route[] = [
  route(accessContract.createOrganization, ({ app, caller }, { slug }) => createOrganization(app, caller, { slug })),
  route(accessContract.createApiToken, ({ app, caller }, { name, scopes, repositories, expiresAt }) =>
    createApiToken(app, caller, {
      name,
      scopes,
      repositories,
      expiresAt: expiresAt === undefined ? undefined : instant('/expiresAt', expiresAt),
    }),
  ),
  route(accessContract.listApiTokens, ({ app, caller }) => listApiTokens(app, caller)),
  route(accessContract.revokeApiToken, ({ app, caller }, { id }) =>
    revokeApiToken(app, caller, { id: id.toLowerCase() }),
  ),
];
