import { revokeApiToken as revoke } from '../../app/revoke-api-token.ts';
import { revokeApiToken } from '../contract/access.ts';
import { route } from '../route.ts';

export const revokeApiTokenRoute = route(revokeApiToken, ({ app, caller }, { id }) =>
  revoke(app, caller, { id: id.toLowerCase() }),
);
