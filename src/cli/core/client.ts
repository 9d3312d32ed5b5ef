import type { Static, TSchema } from 'typebox';
import type { Operation } from '../../contract/operation.ts';
import { readVersion } from '../../lib/version.ts';
import { CliError, EXIT } from './exit.ts';
import type { Posted } from './post-stream.ts';
import { describeProblem, type ProblemDocument } from './problem.ts';
import type { Token } from './token-source.ts';

export interface ClientOptions {
  /** Without a trailing slash. */
  readonly url: string;
  /** Called only if an operation needs a token. */
  readonly token: () => Token;
  /** The organization that an instance token acts for; undefined: the token's own. */
  readonly organization?: string | undefined;
}

export interface CallOptions {
  readonly timeoutMs?: number;
}

/** A body that is produced while it is sent. */
export interface StreamedBody {
  readonly contentType: string;
  bytes(): AsyncIterable<Uint8Array>;
}

const TIMEOUT_MS = 30_000;
/** A server with a slow disk sends nothing while it stores the last bytes. */
const STREAM_IDLE_MS = 120_000;

/** The API, typed by its contract. */
export class Client {
  readonly url: string;
  readonly #token: () => Token;
  readonly #organization: string | undefined;

  constructor({ url, token, organization }: ClientOptions) {
    this.url = url;
    this.#token = token;
    this.#organization = organization;
  }

  async call<Body extends TSchema, Reply extends TSchema>(
    operation: Operation<Body, Reply>,
    body: Static<Body>,
    { timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<Static<Reply>> {
    const token = this.#token();
    const init = {
      method: operation.method,
      headers: { ...this.#headersFor(token), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const isRead = operation.scope === 'read';
    const answer = await this.#send(`/v1${operation.path}`, init, { isRead, timeoutMs });
    return this.#parse(answer, token) as Static<Reply>;
  }

  /** For operations whose body is not JSON. */
  async stream<Reply extends TSchema>(
    { path }: { readonly path: string; readonly reply: Reply },
    body: StreamedBody,
  ): Promise<Static<Reply>> {
    const token = this.#token();
    const headers = {
      ...this.#headersFor(token),
      'content-type': body.contentType,
      accept: 'application/json',
      'user-agent': `sluice-cli/${readVersion()}`,
    };
    // Loaded lazily, because no other command needs it.
    const { postStream, UnreadableBody } = await import('./post-stream.ts');
    let answer: Posted;
    try {
      answer = await postStream(`${this.url}/v1${path}`, { headers, body: body.bytes(), idleMs: STREAM_IDLE_MS });
    } catch (error) {
      if (error instanceof UnreadableBody)
        throw new CliError(EXIT.refused, `A file that was to be sent cannot be read any more (${error.message}).`);
      throw new CliError(EXIT.unavailable, describeConnectionError(error, this.url, STREAM_IDLE_MS));
    }
    return this.#parse(answer, token) as Static<Reply>;
  }

  /** For paths without a token: /readyz, /openapi.json. */
  async get(path: string): Promise<unknown> {
    const answer = await this.#send(path, { method: 'GET', headers: {} }, { isRead: true, timeoutMs: TIMEOUT_MS });
    return this.#parse(answer, undefined);
  }

  #headersFor({ secret }: Token): Record<string, string> {
    const organization = this.#organization;
    return { 'x-api-token': secret, ...(organization === undefined ? {} : { 'x-organization': organization }) };
  }

  async #send(
    path: string,
    init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
    how: { readonly isRead: boolean; readonly timeoutMs: number; readonly isSecondTry?: true },
  ): Promise<Posted> {
    try {
      const response = await fetch(this.url + path, {
        ...init,
        headers: { ...init.headers, accept: 'application/json', 'user-agent': `sluice-cli/${readVersion()}` },
        // A redirected POST would arrive as a GET, and the token would go to another host.
        redirect: 'manual',
        signal: AbortSignal.timeout(how.timeoutMs),
      });
      const { status, headers } = response;
      const type = headers.get('content-type') ?? '';
      return { status, type, text: await response.text(), location: headers.get('location') };
    } catch (error) {
      // The server may have done a write before the connection broke, so only a read is retried.
      if (how.isRead && how.isSecondTry === undefined && isReset(error)) {
        return this.#send(path, init, { ...how, isSecondTry: true });
      }
      const isUnsure = !how.isRead && (isReset(error) || isTimeout(error));
      const text = describeConnectionError(error, this.url, how.timeoutMs);
      throw new CliError(
        EXIT.unavailable,
        isUnsure ? `${text}\nIt may have been done all the same: look before you repeat it.` : text,
      );
    }
  }

  #parse({ status, type, text, location }: Posted, token: Token | undefined): unknown {
    const isJson = /^application\/(?:problem\+)?json\b/.test(type);
    const value = isJson ? parseJson(text) : undefined;
    if (status >= 200 && status < 300 && value !== undefined) return value;
    if (status >= 400 && isProblem(value)) {
      throw new CliError(exitCodeOf(status), describeProblem(value, token), value);
    }
    if (status >= 300 && status < 400) {
      throw new CliError(
        EXIT.unavailable,
        `${this.url} redirects to ${location ?? 'somewhere else'}. Set SLUICE_URL to the address of the server itself.`,
      );
    }
    const code = status === 401 || status === 403 ? EXIT.unauthorized : EXIT.unavailable;
    throw new CliError(
      code,
      `${this.url} answers, but not as Sluice does (HTTP ${status}, ${type || 'no content type'}). Check SLUICE_URL.`,
    );
  }
}

function exitCodeOf(status: number) {
  if (status >= 500) return EXIT.unavailable;
  return status === 401 || status === 403 ? EXIT.unauthorized : EXIT.refused;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is ProblemDocument {
  return typeof value === 'object' && value !== null && 'code' in value && 'detail' in value;
}

/** `fetch` wraps errors, sometimes twice: the innermost code says most. */
function codeOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: unknown; message?: string };
  if (cause !== undefined && cause !== null) return codeOf(cause);
  return typeof code === 'string' ? code : (message ?? '');
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
}

function isTimeout(error: unknown): boolean {
  if ((error as { name?: string }).name === 'TimeoutError') return true;
  return /^(?:UND_ERR_\w+_TIMEOUT|ETIMEDOUT)$/.test(codeOf(error));
}

function describeConnectionError(error: unknown, url: string, timeoutMs: number): string {
  if (isTimeout(error))
    return `The server at ${url} did not answer within ${timeoutMs / 1000} s. Look at its log, or try again.`;
  if (isReset(error))
    return `The server at ${url} closed the connection before it answered. Look at its log, or try again.`;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `No server answers at ${url}. Start one with \`npm start\` or set SLUICE_URL.`;
  if (code === 'bad port')
    return `Port ${new URL(url).port} belongs to another protocol, and fetch never asks there. Let the server listen on another one.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `The host of ${url} is not known here (${code}). Check SLUICE_URL or --url, and the network.`;
  }
  if (/CERT|SELF_SIGNED|ISSUER/.test(code)) {
    return `The certificate of ${url} is not trusted here (${code}). Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority.`;
  }
  if (/SSL|EPROTO/.test(code))
    return `${url} does not speak TLS as it should (${code}). Is it http:// instead of https://?`;
  return `No server answers at ${url} (${code || String(error)}). Check SLUICE_URL or --url, and the network.`;
}
