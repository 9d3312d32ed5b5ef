import { CliError, EXIT } from '../core/exit.ts';

/** A newly created App: GitHub reveals its key and its secret only once. */
export interface NewApp {
  readonly id: string;
  readonly slug: string;
  readonly htmlUrl: string;
  readonly privateKey: string;
  readonly webhookSecret: string | undefined;
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
      'GitHub does not know this code: it is good once, and for an hour. Run sluice github setup again.',
    );
  }
  if (response.status !== 201) {
    throw new CliError(EXIT.unavailable, `${apiUrl} answers with HTTP ${response.status}. ${AGAIN}`);
  }
  return parse(await response.json().catch(() => undefined), apiUrl);
}

const AGAIN =
  'The code is good for an hour: run sluice github setup with the same --host and --code - to go on with it.';

function parse(body: unknown, apiUrl: string): NewApp {
  const {
    id,
    slug,
    html_url: htmlUrl,
    pem,
    webhook_secret: secret,
  } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const isApp =
    typeof id === 'number' && typeof slug === 'string' && typeof htmlUrl === 'string' && typeof pem === 'string';
  if (!isApp) throw new CliError(EXIT.unavailable, `${apiUrl} answers, but not as GitHub does. Check --host.`);
  const webhookSecret = typeof secret === 'string' && secret !== '' ? secret : undefined;
  return { id: String(id), slug, htmlUrl, privateKey: pem, webhookSecret };
}

function causeOf(error: Error): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return error.name === 'TimeoutError' ? `for ${TIMEOUT_MS / 1000} s` : (cause?.code ?? error.message);
}
