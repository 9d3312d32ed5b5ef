import { revokeApiToken as revoke } from '../../app/revoke-api-token.ts';
import { revokeApiToken } from '../contract/access.ts';
import { route } from '../route.ts';

export const revokeApiTokenRoute = route(revokeApiToken, async ({ app, auth, caller }, { id }) => {
  const outcome = await revoke(app, caller, { id: id.toLowerCase() });
  auth.forget();
  return outcome;
});
