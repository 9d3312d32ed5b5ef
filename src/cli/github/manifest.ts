import { EVENTS, PERMISSIONS } from '../../forge/github/api/app-needs.ts';

/** The request to GitHub: an App with exactly the permissions that Sluice needs. */
export interface ManifestOptions {
  readonly name: string;
  /** The server's URL for GitHub and people; undefined if GitHub cannot reach it. */
  readonly publicUrl: string | undefined;
  /** GitHub redirects the browser to this URL. */
  readonly redirectUrl: string;
}

export interface Manifest {
  readonly name: string;
  readonly url: string;
  readonly hook_attributes: { readonly url: string; readonly active: boolean };
  readonly redirect_url: string;
  readonly description: string;
  readonly public: false;
  readonly default_permissions: Readonly<Record<string, 'read' | 'write'>>;
  readonly default_events: readonly string[];
}

/** GitHub requires a webhook URL even if the webhook is off. */
const NOWHERE = 'https://example.com';

// SPEC G68
export function createManifest({ name, publicUrl, redirectUrl }: ManifestOptions): Manifest {
  return {
    name,
    url: publicUrl ?? NOWHERE,
    hook_attributes: { url: `${publicUrl ?? NOWHERE}/webhooks/github`, active: publicUrl !== undefined },
    redirect_url: redirectUrl,
    description: 'Merges pull requests that were tested together.',
    public: false,
    default_permissions: Object.fromEntries(Object.entries(PERMISSIONS).map(([name, { access }]) => [name, access])),
    default_events: EVENTS,
  };
}

/** App names are unique on a host, and have 34 characters at most. */
export function defaultName(owner: string | undefined, random: string): string {
  return `sluice-${owner ?? random}`.toLowerCase().slice(0, 34).replace(/-+$/, '');
}

/** GitHub cannot deliver to addresses of this machine or a local network. */
export function isReachable(url: string): boolean {
  const { hostname, protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  return !/^(?:localhost|.*\.localhost|.*\.local|\[?::1\]?|0\.0\.0\.0|127\..*)$/i.test(hostname);
}
