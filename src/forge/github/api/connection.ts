import { Fault } from '../../../lib/fault.ts';

/** How this server reaches one GitHub: github.com, or an Enterprise host. */
export interface GithubConnection {
  /** What `repo.host` says, in lower case. */
  readonly host: string;
  /** Of REST, without a slash at the end. */
  readonly apiUrl: string;
  /** Where people and git go, without a slash at the end. */
  readonly webUrl: string;
  readonly auth: GithubAuth;
  /** Reads the credentials again: asked when GitHub refuses those at hand, as it does after a key was rotated. */
  readonly reload?: () => Promise<GithubAuth>;
}

export type GithubAuth =
  /** Without a webhook secret no delivery is believed: events are only polled. */
  | { readonly kind: 'app'; readonly appId: string; readonly privateKey: string; readonly webhookSecret?: string }
  | { readonly kind: 'token'; readonly token: string; readonly webhookSecret?: string };

export interface ConnectionParts {
  readonly host: string;
  readonly auth: GithubAuth;
  readonly apiUrl?: string | undefined;
  readonly webUrl?: string | undefined;
  readonly reload?: () => Promise<GithubAuth>;
}

/** URLs follow from the host; given ones may be http, which is never assumed. */
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

/** Enterprise hosts have GraphQL beside REST, not beneath it. */
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
