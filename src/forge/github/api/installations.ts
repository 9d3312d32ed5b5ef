import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import type { Instant } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import { Remembered } from '../../../lib/remembered.ts';
import { keyOf } from '../../hosted/repository-key.ts';
import type { RepositoryName } from '../../hosting.ts';
import type { GithubAuth } from './connection.ts';
import type { Credentials } from './credentials.ts';
import { type Ask, exchange, messageIn, type Received, type RequestLine } from './exchange.ts';
import { lostAnswer, notInstalled, refusedAnswer, refusedCredentials, suspended } from './unavailable.ts';

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
const MAX_KNOWN = 10_000;
const UNREADABLE = 'its answer cannot be read';
const TOKEN: Installation = { id: 0, isApp: false, login: '', permissions: {} };

// SPEC G16
export class Installations {
  readonly #options: InstallationsOptions;
  readonly #found = new Remembered<Installation>({ capacity: MAX_KNOWN });
  readonly #tokens = new Remembered<Token>({ capacity: MAX_KNOWN });
  #app: { readonly auth: GithubAuth; readonly octokit: Octokit } | undefined;

  constructor(options: InstallationsOptions) {
    this.#options = options;
  }

  find(repository: RepositoryName): Promise<Installation> {
    return this.#found.get(keyOf(repository), () => this.#look(repository));
  }

  /** Valid for several minutes at least. */
  async token(installation: Installation, repository: RepositoryName): Promise<string> {
    const key = String(installation.id);
    const ask = () => this.#tokens.get(key, () => this.#mint(installation, repository));
    const known = await ask();
    if (known.expiresAt - this.#options.now() > RENEW_MS) return known.token;
    this.#tokens.forget(key);
    return (await ask()).token;
  }

  /** Called after GitHub refused the token. */
  async dropToken({ id }: Installation, token: string): Promise<void> {
    const known = await this.#tokens.find(String(id))?.catch(() => undefined);
    if (known?.token === token) this.#tokens.forget(String(id));
    const { credentials } = this.#options;
    const auth = credentials.current();
    if (auth.kind === 'token' && auth.token === token) await credentials.refresh(auth);
  }

  forget(owner: string, name?: string): void {
    this.#found.forget(name === undefined ? undefined : keyOf({ owner, name }));
  }

  async askAsApp(ask: Pick<Ask, 'route' | 'parameters'>): Promise<Received> {
    const auth = this.#options.credentials.current();
    if (auth.kind !== 'app')
      throw new Fault('MISCONFIGURED', `There is no GitHub App for ${this.#options.host}, only a token.`);
    const received = await this.#askOnce(auth, ask);
    if (received.kind !== 'answer' || !isRefused(received.status, messageIn(received.data))) return received;
    if (!(await this.#options.credentials.refresh(auth))) throw refusedCredentials('app', messageIn(received.data));
    const fresh = this.#options.credentials.current();
    return fresh.kind === 'app' ? this.#askOnce(fresh, ask) : received;
  }

  #appOctokit(auth: Extract<GithubAuth, { kind: 'app' }>): Octokit {
    if (this.#app?.auth === auth) return this.#app.octokit;
    const { appId, privateKey } = auth;
    this.#app = {
      auth,
      octokit: new Octokit({
        ...this.#options.octokitOptions,
        authStrategy: createAppAuth,
        auth: { appId, privateKey },
      }),
    };
    return this.#app.octokit;
  }

  async #askOnce(auth: Extract<GithubAuth, { kind: 'app' }>, ask: Pick<Ask, 'route' | 'parameters'>) {
    const asked = { ...ask, headers: {}, urgency: 'land', resource: 'core', isAct: false } as const;
    try {
      return await exchange(this.#options.line(this.#appOctokit(auth), 'app'), asked);
    } catch (error) {
      if (error instanceof Fault) throw error;
      // The parser's error may quote the key, so it is not passed on.
      throw refusedCredentials('app', 'the private key cannot be read.');
    }
  }

  async #look(repository: RepositoryName): Promise<Installation> {
    if (this.#options.credentials.current().kind === 'token') return this.#findUser(repository);
    const { owner, name } = repository;
    const received = await this.askAsApp({
      route: 'GET /repos/{owner}/{repo}/installation',
      parameters: { owner, repo: name },
    });
    if (received.kind === 'answer' && received.status === 404) throw notInstalled(repository);
    const data = this.#dataOf(received, repository, 'app') as InstallationData;
    if (typeof data.id !== 'number' || typeof data.app_slug !== 'string')
      throw lostAnswer(this.#options.host, UNREADABLE);
    if (data.suspended_at !== null && data.suspended_at !== undefined) throw suspended(repository);
    return { id: data.id, isApp: true, login: data.app_slug, permissions: data.permissions ?? {} };
  }

  async #findUser(repository: RepositoryName): Promise<Installation> {
    const token = await this.#mint(TOKEN, repository);
    const received = await exchange(this.#options.line(new Octokit(this.#options.octokitOptions), 0), {
      route: 'GET /user',
      parameters: {},
      headers: { authorization: `token ${token.token}` },
      urgency: 'read',
      resource: 'core',
      isAct: false,
    });
    if (received.kind === 'answer' && received.status === 401) {
      if (await this.#options.credentials.refresh({ kind: 'token', token: token.token })) return this.#look(repository);
      throw refusedCredentials('token', messageIn(received.data));
    }
    const { login } = this.#dataOf(received, repository, 'token') as { login: string };
    if (typeof login !== 'string') throw lostAnswer(this.#options.host, UNREADABLE);
    return { ...TOKEN, login };
  }

  async #mint({ id }: Installation, repository: RepositoryName): Promise<Token> {
    const auth = this.#options.credentials.current();
    if (auth.kind === 'token') return { token: auth.token, expiresAt: Number.POSITIVE_INFINITY };
    // Not requested through the auth package: it shares pending answers among all hosts whose installation ids are
    // equal.
    const received = await this.askAsApp({
      route: 'POST /app/installations/{installation_id}/access_tokens',
      parameters: { installation_id: id },
    });
    if (received.kind === 'answer' && received.status === 404) throw notInstalled(repository);
    const data = this.#dataOf(received, repository, 'app') as { token: string; expires_at: string };
    if (typeof data.token !== 'string') throw lostAnswer(this.#options.host, UNREADABLE);
    return { token: data.token, expiresAt: Date.parse(data.expires_at) };
  }

  #dataOf(received: Received, repository: RepositoryName, kind: GithubAuth['kind']): unknown {
    if (received.kind === 'lost') throw lostAnswer(this.#options.host, received.detail);
    if (received.status < 300) return received.data;
    throw refusedAnswer(repository, kind, { ...received, message: messageIn(received.data) });
  }
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
