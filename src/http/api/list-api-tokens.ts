import { listApiTokens as list } from '../../app/access/list-api-tokens.ts';
import { listApiTokens } from '../../contract/access.ts';
import { route } from '../core/route.ts';

export const listApiTokensRoute = route(listApiTokens, ({ app, caller }) => list(app, caller));
