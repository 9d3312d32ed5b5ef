import { createHash, randomBytes } from 'node:crypto';
import type { Ask, Params, Route } from '../exchange.ts';
import type { App, User, World } from '../model.ts';
import { notFound, Refused } from '../refused.ts';
import { ensureUser } from '../world.ts';
import { ok, route } from './call.ts';

interface Code {
  readonly app: App;
  readonly user: User;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** The web flow of an App: people, who are not asked for their consent, and their tokens. */
export function createSignInRoutes(): readonly Route[] {
  const codes = new Map<string, Code>();
  return [
    route('GET /login/oauth/authorize', (ask) => authorize(ask, codes)),
    route('POST /login/oauth/access_token', (ask) => exchange(ask, codes)),
    route('DELETE /applications/{client_id}/token', revoke),
  ];
}

function appOf({ apps }: World, clientId: string | null): App {
  const app = apps.values().find((each) => each.clientId === clientId);
  if (app === undefined) throw notFound();
  return app;
}

/** `login` is the account that the browser is signed in with; `-` says no. */
function authorize({ world, query }: Ask, codes: Map<string, Code>) {
  const app = appOf(world, query.get('client_id'));
  const redirectUri = query.get('redirect_uri') ?? '';
  const back = new URL(redirectUri);
  back.searchParams.set('state', query.get('state') ?? '');
  if (query.get('code_challenge_method') !== 'S256') throw new Refused(422, 'Only S256 is supported');
  const login = query.get('login') ?? '';
  if (login === '-') {
    back.searchParams.set('error', 'access_denied');
  } else {
    const code = randomBytes(10).toString('hex');
    const challenge = query.get('code_challenge') ?? '';
    codes.set(code, { app, user: ensureUser(world, login, 'User'), redirectUri, challenge });
    back.searchParams.set('code', code);
  }
  return { status: 302, headers: { location: back.href } };
}

/** A code works once. Problems are answered with 200. */
function exchange({ world, body }: Ask, codes: Map<string, Code>) {
  const given = new URLSearchParams(body.toString());
  const app = appOf(world, given.get('client_id'));
  if (app.clientSecret !== given.get('client_secret')) return ok({ error: 'incorrect_client_credentials' });
  const code = given.get('code') ?? '';
  const known = codes.get(code);
  codes.delete(code);
  const challenge = createHash('sha256')
    .update(given.get('code_verifier') ?? '')
    .digest('base64url');
  if (known?.app !== app || known.challenge !== challenge) return ok({ error: 'bad_verification_code' });
  if (known.redirectUri !== given.get('redirect_uri')) return ok({ error: 'redirect_uri_mismatch' });
  const token = `ghu_${randomBytes(18).toString('hex')}`;
  world.tokens.set(token, { kind: 'user', user: known.user });
  return ok({ access_token: token, token_type: 'bearer', scope: '', expires_in: 28_800 });
}

function revoke({ world, caller, body }: Ask, { client_id: clientId }: Params) {
  if (caller.kind !== 'app' || caller.app.clientId !== clientId) throw notFound();
  world.tokens.delete((JSON.parse(body.toString()) as { access_token: string }).access_token);
  return { status: 204 };
}
