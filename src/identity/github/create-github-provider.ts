import { createHash } from 'node:crypto';
import type { Identity, IdentityProvider, SignInProblem, Trip } from '../identity.ts';

export interface GithubSignIn {
  readonly host: string;
  readonly apiUrl: string;
  readonly webUrl: string;
  readonly client: { readonly id: string; readonly secret: string };
}

const TIMEOUT_MS = 10_000;
const UNAVAILABLE: SignInProblem = { problem: 'unavailable', detail: 'GitHub does not answer.' };

// SPEC A64
export function createGithubProvider(settings: GithubSignIn): IdentityProvider {
  return {
    key: settings.host,
    label: settings.host === 'github.com' ? 'GitHub' : settings.host,
    begin: async ({ redirectUri, state, verifier }) => {
      const url = new URL(`${settings.webUrl}/login/oauth/authorize`);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const parameters = { client_id: settings.client.id, redirect_uri: redirectUri, state, code_challenge: challenge };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      url.searchParams.set('code_challenge_method', 'S256');
      return { url: url.href };
    },
    finish: (trip, cameBackTo) => finish(settings, trip, cameBackTo.searchParams),
    // GitHub has no address that signs out for an App.
    findSignOut: async () => undefined,
  };
}

async function finish(settings: GithubSignIn, trip: Trip, query: URLSearchParams): Promise<Identity | SignInProblem> {
  // Anybody can come back with an error or a code of their own making.
  if (query.has('error')) return { problem: 'denied', detail: 'GitHub said no.' };
  const token = await exchange(settings, trip, query.get('code') ?? '');
  if (typeof token !== 'string') return token;
  try {
    return await readPerson(settings, token);
  } finally {
    await giveBack(settings, token);
  }
}

/** GitHub answers 200 to a wrong code too. */
async function exchange({ webUrl, client }: GithubSignIn, trip: Trip, code: string): Promise<string | SignInProblem> {
  const answer = await ask(`${webUrl}/login/oauth/access_token`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: client.id,
      client_secret: client.secret,
      code,
      redirect_uri: trip.redirectUri,
      code_verifier: trip.verifier,
    }),
  });
  if (answer === undefined) return UNAVAILABLE;
  const { access_token: token, error } = answer as { readonly access_token?: unknown; readonly error?: unknown };
  if (typeof token === 'string' && token !== '') return token;
  return { problem: 'denied', detail: `GitHub gives no token for the code (${String(error).slice(0, 100)}).` };
}

async function readPerson({ apiUrl, host }: GithubSignIn, token: string): Promise<Identity | SignInProblem> {
  const answer = await ask(`${apiUrl}/user`, { headers: { authorization: `Bearer ${token}` } });
  if (answer === undefined) return UNAVAILABLE;
  const { id, login, type } = answer as { readonly id?: unknown; readonly login?: unknown; readonly type?: unknown };
  if (typeof id !== 'number' || typeof login !== 'string' || login === '' || type !== 'User') {
    return { problem: 'refused', detail: 'GitHub does not say which person the token is of.' };
  }
  return { subject: String(id), name: `@${login}`, groups: [], logins: { [host]: login } };
}

/** Best effort: a token that stays expires by itself, and nobody has it. */
async function giveBack({ apiUrl, client }: GithubSignIn, token: string): Promise<void> {
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
  await ask(`${apiUrl}/applications/${client.id}/token`, {
    method: 'DELETE',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/json' },
    body: JSON.stringify({ access_token: token }),
  });
}

/** Undefined where GitHub does not answer with JSON. */
async function ask(url: string, init: RequestInit): Promise<object | undefined> {
  try {
    const headers = { accept: 'application/json', 'user-agent': 'sluice', ...(init.headers as object) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { ...init, headers, redirect: 'error', signal });
    const body: unknown = await response.json();
    return response.status < 500 && typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
