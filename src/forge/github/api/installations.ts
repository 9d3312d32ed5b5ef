import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import type { Instant } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { GithubAuth } from './connection.ts';
import type { Credentials } from './credentials.ts';
import { type Ask, exchange, messageIn, type Received, type RequestLine } from './exchange.ts';
import {
  lostAnswer,
  notInstalled,
  type RepositoryName,
  refusedAnswer,
  refusedCredentials,
  suspended,
} from './unavailable.ts';

/** The identity on a repository: an installation of the App, or the user of a token. */
export interface Installation {
  /** 0 for a token. */
  readonly id: number;
  readonly isApp: boolean;
  /** The login in GraphQL's form: an App has its slug, without `[bot]`. */
  readonly login: string;
  /** Empty for a token, whose permissions GitHub does not list. */
  readonly permissions: Readonly<Record<string, string>>;
}

export interface Installations {
  find(repository: RepositoryName): Promise<Installation>;
  /** Valid for several minutes at least. */
  token(installation: Installation, repository: RepositoryName): Promise<string>;
  /** Called after GitHub refused the token. */
  dropToken(installation: Installation, token: string): Promise<void>;
  forget(owner: string, name?: string): void;
  /** Sends the request as the App itself, not as an installation. */
  askAsApp(ask: Pick<Ask, 'route' | 'parameters'>): Promise<Received>;
}

export interface InstallationsOptions {
  readonly host: string;
  readonly credentials: Credentials;
  readonly octokitOptions: ConstructorParameters<typeof Octokit>[0];
  readonly line: (octokit: Octokit, id: number | 'app') => RequestLine;
  readonly now: () => Instant;
}

interface Token {
  readonly token: string;
  readonly expiresAt: Instant;
}

/** A git command that starts with a token should finish before the token expires. */
const RENEW_MS = 10 * 60_000;
const UNREADABLE = 'its answer cannot be read';
const TOKEN: Installation = { id: 0, isApp: false, login: '', permissions: {} };

// SPEC G16
export function createInstallations(options: InstallationsOptions): Installations {
  const { host, credentials, octokitOptions, line, now } = options;
  const found = new Map<string, Promise<Installation>>();
  const tokens = new Map<number, Promise<Token>>();
  let app: { readonly auth: GithubAuth; readonly octokit: Octokit } | undefined;

  function appOctokit(auth: Extract<GithubAuth, { kind: 'app' }>): Octokit {
    if (app?.auth === auth) return app.octokit;
    const { appId, privateKey } = auth;
    app = {
      auth,
      octokit: new Octokit({ ...octokitOptions, authStrategy: createAppAuth, auth: { appId, privateKey } }),
    };
    return app.octokit;
  }

  async function askOnce(auth: Extract<GithubAuth, { kind: 'app' }>, ask: Pick<Ask, 'route' | 'parameters'>) {
    const asked = { ...ask, headers: {}, urgency: 'land', resource: 'core', isAct: false } as const;
    try {
      return await exchange(line(appOctokit(auth), 'app'), asked);
    } catch (error) {
      if (error instanceof Fault) throw error;
      // The parser's error may quote the key, so it is not passed on.
      throw refusedCredentials('app', 'the private key cannot be read.');
    }
  }

  async function askAsApp(ask: Pick<Ask, 'route' | 'parameters'>): Promise<Received> {
    const auth = credentials.current();
    if (auth.kind !== 'app') throw new Fault('MISCONFIGURED', `There is no GitHub App for ${host}, only a token.`);
    const received = await askOnce(auth, ask);
    if (received.kind !== 'answer' || !isRefused(received.status, messageIn(received.data))) return received;
    if (!(await credentials.refresh(auth))) throw refusedCredentials('app', messageIn(received.data));
    const fresh = credentials.current();
    return fresh.kind === 'app' ? askOnce(fresh, ask) : received;
  }

  async function look(repository: RepositoryName): Promise<Installation> {
    if (credentials.current().kind === 'token') return findUser(repository);
    const { owner, name } = repository;
    const received = await askAsApp({
      route: 'GET /repos/{owner}/{repo}/installation',
      parameters: { owner, repo: name },
    });
    if (received.kind === 'answer' && received.status === 404) throw notInstalled(repository);
    const data = dataOf(received, repository, 'app') as InstallationData;
    if (typeof data.id !== 'number' || typeof data.app_slug !== 'string') throw lostAnswer(host, UNREADABLE);
    if (data.suspended_at !== null && data.suspended_at !== undefined) throw suspended(repository);
    return { id: data.id, isApp: true, login: data.app_slug, permissions: data.permissions ?? {} };
  }

  async function findUser(repository: RepositoryName): Promise<Installation> {
    const token = await mint(TOKEN, repository);
    const received = await exchange(line(new Octokit(octokitOptions), 0), {
      route: 'GET /user',
      parameters: {},
      headers: { authorization: `token ${token.token}` },
      urgency: 'read',
      resource: 'core',
      isAct: false,
    });
    if (received.kind === 'answer' && received.status === 401) {
      if (await credentials.refresh({ kind: 'token', token: token.token })) return look(repository);
      throw refusedCredentials('token', messageIn(received.data));
    }
    const { login } = dataOf(received, repository, 'token') as { login: string };
    if (typeof login !== 'string') throw lostAnswer(host, UNREADABLE);
    return { ...TOKEN, login };
  }

  async function mint({ id }: Installation, repository: RepositoryName): Promise<Token> {
    const auth = credentials.current();
    if (auth.kind === 'token') return { token: auth.token, expiresAt: Number.POSITIVE_INFINITY };
    // Not requested through the auth package: it shares pending answers among all hosts whose installation ids are
    // equal.
    const received = await askAsApp({
      route: 'POST /app/installations/{installation_id}/access_tokens',
      parameters: { installation_id: id },
    });
    if (received.kind === 'answer' && received.status === 404) throw notInstalled(repository);
    const data = dataOf(received, repository, 'app') as { token: string; expires_at: string };
    if (typeof data.token !== 'string') throw lostAnswer(host, UNREADABLE);
    return { token: data.token, expiresAt: Date.parse(data.expires_at) };
  }

  function dataOf(received: Received, repository: RepositoryName, kind: GithubAuth['kind']): unknown {
    if (received.kind === 'lost') throw lostAnswer(host, received.detail);
    if (received.status < 300) return received.data;
    throw refusedAnswer(repository, kind, { ...received, message: messageIn(received.data) });
  }

  function forget(owner: string, name?: string): void {
    const prefix = `${owner}/${name ?? ''}`.toLowerCase();
    for (const key of found.keys()) {
      if (name === undefined ? key.startsWith(prefix) : key === prefix) found.delete(key);
    }
  }

  return {
    find(repository) {
      const key = keyOf(repository);
      return remembered(found, key, () => look(repository));
    },

    async token(installation, repository) {
      const { id } = installation;
      const known = await remembered(tokens, id, () => mint(installation, repository));
      if (known.expiresAt - now() > RENEW_MS) return known.token;
      tokens.delete(id);
      return (await remembered(tokens, id, () => mint(installation, repository))).token;
    },

    async dropToken({ id }, token) {
      const known = await tokens.get(id)?.catch(() => undefined);
      if (known?.token === token) tokens.delete(id);
      const auth = credentials.current();
      if (auth.kind === 'token' && auth.token === token) await credentials.refresh(auth);
    },

    forget,
    askAsApp,
  };
}

/** GitHub answers 404 to an App id that it does not know. */
function isRefused(status: number, message: string): boolean {
  return status === 401 || (status === 404 && /^integration not found/i.test(message));
}

interface InstallationData {
  readonly id: number;
  readonly app_slug: string;
  readonly suspended_at?: string | null;
  readonly permissions?: Readonly<Record<string, string>>;
}

export function keyOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase();
}

/** Concurrent callers share one request. Failures are not cached. */
// SPEC G100
function remembered<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, ask: () => Promise<Value>): Promise<Value> {
  const there = known.get(key);
  if (there !== undefined) return there;
  const asked = ask();
  known.set(key, asked);
  asked.catch(() => {
    if (known.get(key) === asked) known.delete(key);
  });
  return asked;
}
