import { revokeApiToken as revoke } from '../../app/access/revoke-api-token.ts';
import { revokeApiToken } from '../../contract/access.ts';
import { route } from '../core/route.ts';

export const revokeApiTokenRoute = route(revokeApiToken, ({ app, caller }, { id }) =>
  revoke(app, caller, { id: id.toLowerCase() }),
);
