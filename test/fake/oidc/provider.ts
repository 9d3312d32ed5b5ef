// A real OpenID Connect provider (oidc-provider) that listens on this machine. Tests rotate its keys, stop it, and change
// the ID tokens on their way out of it.

import { generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'sluice', secret: 'a-secret-of-the-client' };

export type Claims = Record<string, unknown>;

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: JsonWebKey;
}

export interface TestProvider {
  readonly issuer: string;
  /** Accounts by their subject, with their claims. */
  readonly accounts: Map<string, Claims>;
  readonly key: SigningKey;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** Replaces the ID token of the next answers. Undefined: none. */
  tamper: ((claims: Claims, token: string) => string) | undefined;
  rotateKeys(): void;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

export function makeKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = `key-${Math.random().toString(36).slice(2)}`;
  return { kid, privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } };
}

export function signToken(claims: Claims, { kid, privateKey }: SigningKey): string {
  const input = [{ alg: 'RS256', kid }, claims].map(encode).join('.');
  return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
}

export function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

export async function startProvider(redirectUri: string, signOutUri: string): Promise<TestProvider> {
  const accounts = new Map<string, Claims>();
  const asked: string[] = [];
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  let key = makeKey();
  let server: Server | undefined;
  const listen = (port: number) =>
    new Promise<Server>((resolve) => {
      const made = createServer((request, response) => {
        asked.push((request.url ?? '').split('?')[0] ?? '');
        if (request.url === '/token') change(response, () => provider.tamper);
        handle(request, response);
      });
      made.listen(port, '127.0.0.1', () => resolve(made));
    });
  server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const start = () => {
    handle = createProvider({ issuer, redirectUri, signOutUri, accounts, key }).callback();
  };
  start();
  const provider: TestProvider = {
    issuer,
    accounts,
    asked,
    tamper: undefined,
    get key() {
      return key;
    },
    rotateKeys() {
      key = makeKey();
      start();
    },
    async stop() {
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
      server = undefined;
    },
    async restart() {
      server = await listen(port);
    },
  };
  return provider;
}

function createProvider(of: {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly signOutUri: string;
  readonly accounts: ReadonlyMap<string, Claims>;
  readonly key: SigningKey;
}): Provider {
  return new Provider(of.issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [of.redirectUri],
        post_logout_redirect_uris: [of.signOutUri],
      },
    ],
    jwks: { keys: [of.key.jwk] },
    cookies: { keys: ['a-key-of-these-tests'] },
    claims: { openid: ['sub'], profile: ['name', 'groups', 'github_login'] },
    findAccount: (_: unknown, id: string) =>
      of.accounts.has(id) ? { accountId: id, claims: async () => ({ sub: id, ...of.accounts.get(id) }) } : undefined,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  });
}

/** Changes the ID token in the JSON that is about to be sent. */
function change(response: ServerResponse, tamper: () => TestProvider['tamper']): void {
  const end = response.end.bind(response) as (body?: unknown) => ServerResponse;
  response.end = ((body?: string | Buffer) => {
    const act = tamper();
    const answer = JSON.parse(String(body ?? '{}')) as { id_token?: string };
    if (act === undefined || answer.id_token === undefined) return end(body);
    const claims = JSON.parse(Buffer.from(answer.id_token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
    response.removeHeader('content-length');
    return end(JSON.stringify({ ...answer, id_token: act(claims, answer.id_token) }));
  }) as typeof response.end;
}

/** A browser at the provider: it keeps cookies, signs in as somebody, and returns the address that it is sent away to. */
export async function enterAt(
  provider: Pick<TestProvider, 'issuer'>,
  address: string,
  subject: string,
): Promise<string> {
  const jar = new Map<string, string>();
  let at = address;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12; step += 1) {
    if (!at.startsWith(provider.issuer)) return at;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = form === undefined ? {} : { method: 'POST', body: form };
    const response = await fetch(at, { ...sent, headers: { cookie }, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    form = undefined;
    if (location !== null) at = new URL(location, at).href;
    else if (page.includes('name="login"'))
      form = new URLSearchParams({ prompt: 'login', login: subject, password: 'x' });
    else if (page.includes('value="consent"')) form = new URLSearchParams({ prompt: 'consent' });
    else throw new Error(`The provider answered ${response.status}: ${page.slice(0, 300)}`);
  }
  throw new Error('The provider sends the browser in circles.');
}
