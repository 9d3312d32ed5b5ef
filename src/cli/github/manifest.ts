import { EVENTS, PERMISSIONS } from '../../forge/github/api/app-needs.ts';

/** What GitHub is asked to make: an App with exactly what Sluice needs. */
export interface ManifestOptions {
  readonly name: string;
  /** Of the server, as GitHub and people reach it; undefined where GitHub cannot reach it. */
  readonly publicUrl: string | undefined;
  /** Where GitHub sends the browser back to. */
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

/** GitHub wants an address of the webhook also where it is off. */
const NOWHERE = 'https://example.com';

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

/** Names of Apps are unique on a host, and have 34 characters at most. */
export function defaultName(owner: string | undefined, random: string): string {
  return `sluice-${owner ?? random}`.toLowerCase().slice(0, 34).replace(/-+$/, '');
}

/** GitHub sends nothing to addresses that only this machine or this network knows. */
export function isReachable(url: string): boolean {
  const { hostname, protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  return !/^(?:localhost|.*\.localhost|.*\.local|\[?::1\]?|0\.0\.0\.0|127\..*)$/i.test(hostname);
}
