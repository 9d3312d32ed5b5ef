import { inSpan } from '../../lib/trace.ts';
import { bareText } from './forge-text.ts';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export interface Wire extends Exchange {
  /** As people call the forge. */
  readonly title: string;
  /** They prove who asks. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

export interface Answer<Data> {
  readonly status: number;
  readonly data: Data;
  readonly headers: Headers;
}

/** No answer came. `isSent` is false when the forge cannot have seen the request. */
export interface Lost {
  readonly detail: string;
  readonly isSent: boolean;
}

/** No answer to a request of this server is as large. */
const MAX_BYTES = 32 * 1024 * 1024;
const REDIRECTS = [301, 302, 307, 308];

/** A redirect, as after a rename, is followed once, on the same host and with the same method. */
export async function send(wire: Wire): Promise<Answer<unknown> | Lost> {
  const first = await sendOnce(wire, wire.url);
  if ('detail' in first || first.location === undefined) return first;
  const next = URL.canParse(first.location, wire.url) ? new URL(first.location, wire.url) : undefined;
  return next?.origin === new URL(wire.url).origin ? sendOnce(wire, next.href) : first;
}

type Received = Answer<unknown> & { readonly location?: string };

function sendOnce(wire: Wire, url: string): Promise<Received | Lost> {
  const attributes = { 'http.request.method': wire.method, 'server.address': new URL(url).hostname };
  return inSpan({ name: `${wire.method} ${wire.title.toLowerCase()}`, kind: 'client', attributes }, async (span) => {
    const received = await exchangeOnce(wire, url);
    if ('detail' in received) span?.fail();
    else span?.set({ 'http.response.status_code': received.status });
    return received;
  });
}

async function exchangeOnce({ method, body, headers, timeoutMs, stop }: Wire, url: string): Promise<Received | Lost> {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...headers,
        accept: 'application/json',
        'user-agent': 'sluice',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), stop]),
    });
    const location = REDIRECTS.includes(response.status) ? (response.headers.get('location') ?? undefined) : undefined;
    const data = parse(await readText(response));
    return { status: response.status, data, headers: response.headers, ...(location !== undefined && { location }) };
  } catch (error) {
    return { detail: describe(error), isSent: !isUnsent(error) };
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error('its answer is larger than 32 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A proxy answers with a page instead of JSON. */
function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text.slice(0, 2_000);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'no answer in time';
  return bareText(error.cause instanceof Error ? error.cause.message : error.message);
}

function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    code,
  );
}

/** Reading again changes nothing. A proxy answers for a forge that restarts, and Gitea fails while it learns of a push. */
export function isRepeatable(method: string, received: Answer<unknown> | Lost): boolean {
  if (method !== 'GET') return false;
  return 'detail' in received || [500, 502, 503, 504].includes(received.status);
}
