import { Fault } from '../../../lib/fault.ts';

export interface GithubConnection {
  /** The value of `repo.host`, in lower case. */
  readonly host: string;
  /** REST base URL, without a trailing slash. */
  readonly apiUrl: string;
  /** Base URL for browsers and git, without a trailing slash. */
  readonly webUrl: string;
  readonly auth: GithubAuth;
  /** Reads the credentials again after GitHub refused them, as happens when a key was rotated. */
  readonly reload?: () => Promise<GithubAuth>;
}

export type GithubAuth =
  /** Without a webhook secret every delivery is refused, and the poller is the only source of events. */
  | { readonly kind: 'app'; readonly appId: string; readonly privateKey: string; readonly webhookSecret?: string }
  | { readonly kind: 'token'; readonly token: string; readonly webhookSecret?: string };

export interface ConnectionParts {
  readonly host: string;
  readonly auth: GithubAuth;
  readonly apiUrl?: string | undefined;
  readonly webUrl?: string | undefined;
  readonly reload?: () => Promise<GithubAuth>;
}

/** URLs derive from the host and use https. Only an explicit URL may use http. */
// SPEC G101
export function githubConnection({ host, auth, apiUrl, webUrl, reload }: ConnectionParts): GithubConnection {
  const name = host.toLowerCase();
  return {
    host: name,
    apiUrl: urlOf(apiUrl ?? (name === 'github.com' ? 'https://api.github.com' : `https://${name}/api/v3`)),
    webUrl: urlOf(webUrl ?? `https://${name}`),
    auth,
    ...(reload !== undefined && { reload }),
  };
}

/** On Enterprise hosts GraphQL is at /api/graphql, beside /api/v3. */
export function graphqlUrlOf(apiUrl: string): string {
  return apiUrl.endsWith('/api/v3') ? apiUrl.replace(/\/v3$/, '/graphql') : `${apiUrl}/graphql`;
}

function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === undefined || !isHttp || url.username !== '' || url.password !== '') {
    throw new Fault('MISCONFIGURED', 'The URL of a GitHub host must begin with https:// and hold no user or password.');
  }
  return text.replace(/\/+$/, '');
}
