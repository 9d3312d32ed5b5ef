import type { Configuration, IDToken, ServerMetadata } from 'openid-client';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { type Identity, type IdentityProvider, type SignInProblem, SSO, type Trip } from '../identity.ts';
import { Discovery } from './discover.ts';
import { readIdentity } from './read-identity.ts';

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  readonly label: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  /** The claim that holds the login at a forge. Undefined: people have no own pull requests. */
  readonly loginClaim: { readonly host: string; readonly claim: string } | undefined;
}

type Client = typeof import('openid-client');
type Keys = ReturnType<Client['getJwksCache']>;

const TIMEOUT_S = 10;
const CLOCK_TOLERANCE_S = 60;
/** Keys are not fetched again within this time. */
const COOL_DOWN_MS = 5_000;
/** openid-client fetches keys that are this old again when a token has an unknown one. */
const STALE_KEYS_S = 60;

export function createOidcProvider(
  settings: OidcSettings,
  parts: { readonly clock: Clock; readonly log: Log },
): IdentityProvider {
  return new OidcProvider(settings, parts);
}

class OidcProvider implements IdentityProvider {
  readonly key = SSO;
  readonly label: string;
  readonly #settings: OidcSettings;
  readonly #clock: Clock;
  readonly #discovery: Discovery;
  #client: Promise<Client> | undefined;
  #keys: { readonly cache: NonNullable<Keys>; readonly fetchedAt: number } | undefined;

  constructor(settings: OidcSettings, parts: { readonly clock: Clock; readonly log: Log }) {
    this.label = settings.label;
    this.#settings = settings;
    this.#clock = parts.clock;
    this.#discovery = new Discovery(() => this.#discover(), parts);
  }

  async begin(trip: Trip): Promise<{ readonly url: string } | SignInProblem> {
    const metadata = await this.#discovery.find();
    if (metadata === undefined) return this.#unavailable();
    const client = await this.#load();
    const url = client.buildAuthorizationUrl(this.#configure(client, metadata), {
      redirect_uri: trip.redirectUri,
      scope: this.#settings.scopes,
      state: trip.state,
      nonce: trip.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(trip.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href };
  }

  // SPEC A54
  async finish(trip: Trip, cameBackTo: URL): Promise<Identity | SignInProblem> {
    const metadata = await this.#discovery.find();
    if (metadata === undefined) return this.#unavailable();
    const client = await this.#load();
    const config = this.#configure(client, metadata);
    const seeded = this.#seedKeys(client, config);
    let hasAnswered = false;
    config[client.customFetch] = async (url, options) => {
      const response = await fetch(url, options as RequestInit);
      hasAnswered ||= response.ok && url === metadata.token_endpoint;
      return response;
    };
    try {
      const tokens = await client.authorizationCodeGrant(config, cameBackTo, {
        pkceCodeVerifier: trip.verifier,
        expectedState: trip.state,
        expectedNonce: trip.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as IDToken;
      const problem = this.#findProblem(claims);
      if (problem !== undefined) return { problem: 'refused', detail: refusedText(problem) };
      const more = await this.#readMore(client, config, { claims, accessToken: tokens.access_token });
      return readIdentity({ ...more, ...claims }, this.#settings);
    } catch (error) {
      return problemOf(client, error, hasAnswered);
    } finally {
      this.#keepKeys(client.getJwksCache(config), seeded);
    }
  }

  /** openid-client compares `azp` only where there are several audiences, and never looks at `iat`. */
  // SPEC A55
  #findProblem({ azp, iat }: IDToken): string | undefined {
    if (azp !== undefined && azp !== this.#settings.clientId) return 'the ID token was made for another client';
    const isEarly = iat > Math.floor(Date.now() / 1_000) + CLOCK_TOLERANCE_S;
    return isEarly ? 'the ID token was issued in the future' : undefined;
  }

  /** The provider may show its own page, and come back. No token is needed for it. */
  // SPEC A59
  async findSignOut(returnTo: string): Promise<string | undefined> {
    const metadata = await this.#discovery.find();
    if (metadata?.end_session_endpoint === undefined) return undefined;
    const client = await this.#load();
    const config = this.#configure(client, metadata);
    return client.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }).href;
  }

  /** Servers that nobody signs in to do not load it. */
  #load(): Promise<Client> {
    this.#client ??= import('openid-client');
    return this.#client;
  }

  async #discover(): Promise<ServerMetadata> {
    const client = await this.#load();
    const { issuer, clientId } = this.#settings;
    const execute = this.#isInsecure ? [client.allowInsecureRequests] : [];
    const config = await client.discovery(new URL(issuer), clientId, {}, client.None(), {
      execute,
      timeout: TIMEOUT_S,
    });
    return config.serverMetadata();
  }

  /** An address of this machine, for trials: the configuration allows no other one without https. */
  get #isInsecure(): boolean {
    return this.#settings.issuer.startsWith('http:');
  }

  /** openid-client verifies no signature of a token that came over https unless it is asked to. */
  // SPEC A55
  #configure(client: Client, metadata: ServerMetadata): Configuration {
    const { clientId, clientSecret } = this.#settings;
    const auth = clientSecret === undefined ? client.None() : chooseAuth(client, metadata, clientSecret);
    const config = new client.Configuration(metadata, clientId, { [client.clockTolerance]: CLOCK_TOLERANCE_S }, auth);
    config.timeout = TIMEOUT_S;
    if (this.#isInsecure) client.allowInsecureRequests(config);
    client.enableNonRepudiationChecks(config);
    return config;
  }

  /** openid-client waits a minute before it fetches keys again: it is told that they are older. Returns that age. */
  // SPEC A56
  #seedKeys(client: Client, config: Configuration): number {
    const isCool = Math.abs(this.#clock.now() - (this.#keys?.fetchedAt ?? 0)) >= COOL_DOWN_MS;
    const uat = Math.floor(Date.now() / 1_000) - (isCool ? STALE_KEYS_S : 1);
    if (this.#keys !== undefined) client.setJwksCache(config, { ...this.#keys.cache, uat });
    return uat;
  }

  #keepKeys(cache: Keys, seeded: number): void {
    if (cache !== undefined && cache.uat !== seeded) this.#keys = { cache, fetchedAt: this.#clock.now() };
  }

  /** Many providers put groups into the answer for the person alone, and not into the token. */
  async #readMore(
    client: Client,
    config: Configuration,
    { claims, accessToken }: { readonly claims: IDToken; readonly accessToken: string },
  ): Promise<object> {
    const { groupsClaim, loginClaim } = this.#settings;
    const wanted = ['name', groupsClaim, ...(loginClaim === undefined ? [] : [loginClaim.claim])];
    const isComplete = wanted.every((name) => claims[name] !== undefined);
    if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return {};
    return client.fetchUserInfo(config, accessToken, claims.sub);
  }

  #unavailable(): SignInProblem {
    return { problem: 'unavailable', detail: `${this.#settings.issuer} does not answer.` };
  }
}

/** The method that every provider must know, unless this one says that it does not. */
function chooseAuth(client: Client, metadata: ServerMetadata, secret: string) {
  const known = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return known.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

function wordOf(error: string): string {
  return /^\w{1,50}$/.test(error) ? error : 'no';
}

/** Neither the answer of the provider nor a token is in the sentence. */
function problemOf(client: Client, error: unknown, hasAnswered: boolean): SignInProblem {
  const { code, message, cause } = error as Error & { readonly code?: string; readonly cause?: unknown };
  const isDown =
    code === 'OAUTH_TIMEOUT' ||
    (error instanceof TypeError && message === 'fetch failed') ||
    (code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' && cause instanceof Response && cause.status >= 500);
  if (isDown) return { problem: 'unavailable', detail: 'The provider does not answer.' };
  // Anybody can come back with an error or a code of their own making. A token comes from the provider.
  if (!hasAnswered) {
    const said = error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError;
    return { problem: 'denied', detail: said ? `The provider said ${wordOf(error.error)}.` : `${message}.` };
  }
  const deeper = cause instanceof Error && 'code' in cause ? ` (${cause.message})` : '';
  return { problem: 'refused', detail: refusedText(`${message}${deeper}`) };
}

function refusedText(why: string): string {
  return `The answer of the provider does not count: ${why}.`;
}
