import { EVENTS, PERMISSIONS } from '../../forge/github/api/app-needs.ts';
import { CliError, EXIT } from '../core/exit.ts';

/** The request to GitHub: an App with exactly the permissions that Sluice needs. */
interface ManifestOptions {
  readonly name: string;
  /** The server's URL for GitHub and people; undefined if GitHub cannot reach it. */
  readonly publicUrl: string | undefined;
  readonly host: string;
  /** GitHub redirects the browser to this URL. */
  readonly redirectUrl: string;
}

export type Manifest = ReturnType<typeof createManifest>;

/** GitHub requires a webhook URL even if the webhook is off. */
const NOWHERE = 'https://example.com';

// SPEC G68
export function createManifest({ name, publicUrl, host, redirectUrl }: ManifestOptions) {
  return {
    name,
    url: publicUrl ?? NOWHERE,
    hook_attributes: { url: `${publicUrl ?? NOWHERE}/webhooks/github`, active: publicUrl !== undefined },
    redirect_url: redirectUrl,
    // People who sign in come back there.
    ...(publicUrl === undefined ? {} : { callback_urls: [`${publicUrl}/web/sign-in/${host}/callback`] }),
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

/** A newly created App: GitHub reveals its key and its secret only once. */
export interface NewApp {
  readonly id: string;
  readonly slug: string;
  readonly htmlUrl: string;
  readonly privateKey: string;
  readonly webhookSecret: string | undefined;
  /** For the sign-in of people. */
  readonly client: { readonly id: string; readonly secret: string } | undefined;
}

const TIMEOUT_MS = 30_000;

export async function convertCode(apiUrl: string, code: string): Promise<NewApp> {
  const url = `${apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'sluice' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new CliError(EXIT.unavailable, `${apiUrl} does not answer (${causeOf(error)}). ${AGAIN}`);
  });
  if (response.status === 404 || response.status === 422) {
    throw new CliError(
      EXIT.refused,
      'GitHub does not know this code: it is good once, and for an hour. Run sluice forge setup github again.',
    );
  }
  if (response.status !== 201) {
    throw new CliError(EXIT.unavailable, `${apiUrl} answers with HTTP ${response.status}. ${AGAIN}`);
  }
  return parse(await response.json().catch(() => undefined), apiUrl);
}

const AGAIN =
  'The code is good for an hour: run sluice forge setup github with the same --host and --code - to go on with it.';

function parse(body: unknown, apiUrl: string): NewApp {
  const {
    id,
    slug,
    html_url: htmlUrl,
    pem,
    webhook_secret: secret,
    client_id: clientId,
    client_secret: clientSecret,
  } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const isApp =
    typeof id === 'number' && typeof slug === 'string' && typeof htmlUrl === 'string' && typeof pem === 'string';
  if (!isApp) throw new CliError(EXIT.unavailable, `${apiUrl} answers, but not as GitHub does. Check --host.`);
  const webhookSecret = typeof secret === 'string' && secret !== '' ? secret : undefined;
  const hasClient = typeof clientId === 'string' && typeof clientSecret === 'string';
  const client = hasClient ? { id: clientId, secret: clientSecret } : undefined;
  return { id: String(id), slug, htmlUrl, privateKey: pem, webhookSecret, client };
}

function causeOf(error: Error): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return error.name === 'TimeoutError' ? `for ${TIMEOUT_MS / 1000} s` : (cause?.code ?? error.message);
}
