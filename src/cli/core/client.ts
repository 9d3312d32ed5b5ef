import { setTimeout as delay } from 'node:timers/promises';
import { readVersion } from '../../lib/version.ts';
import { type Answer, type ExchangeOptions, exchange, TimeoutError } from './exchange.ts';
import { CliError, EXIT } from './exit.ts';
import { type AnswerOf, type BodyOf, type OperationName, routeOf } from './operations.ts';
import { describeProblem, type ProblemDocument } from './problem.ts';
import { START_TEXT } from './start-text.ts';
import { clean, say } from './terminal.ts';
import type { Token } from './token-source.ts';
import { describeVersionGap } from './version-gap.ts';

interface ClientOptions {
  /** Without a trailing slash. */
  readonly url: string;
  /** Called only if an operation needs a token. */
  readonly token: () => Token;
  /** The organization that an instance token acts for; undefined: the token's own. */
  readonly organization?: string | undefined;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  /** How often an answer with `Retry-After` is waited for. */
  readonly retries?: number;
  /** Breaks the call off. */
  readonly signal?: AbortSignal;
}

/** A body that is produced while it is sent. */
export interface StreamedBody {
  readonly contentType: string;
  /** A new stream on each call: an upload may be retried. */
  bytes(): AsyncIterable<Uint8Array>;
}

interface Init {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 30_000;
/** A server with a slow disk sends nothing while it stores the last bytes. */
const STREAM_IDLE_MS = 120_000;
const RETRIES = 5;
/** A longer wait is for the user to decide. */
const MAX_RETRY_AFTER_S = 60;

/** The API, typed by its contract. */
export class Client {
  readonly url: string;
  /** Hears why a call waits. */
  onWait: (text: string) => void = (text) => say(`sluice: ${text}`);
  /** Hears once that the server has another version. */
  onVersionGap: (text: string) => void = (text) => say(`sluice: ${text}`);
  readonly #token: () => Token;
  readonly #organization: string | undefined;
  #isVersionRead = false;

  constructor({ url, token, organization }: ClientOptions) {
    this.url = url;
    this.#token = token;
    this.#organization = organization;
  }

  async call<Name extends OperationName>(
    name: Name,
    body: BodyOf<Name>,
    { timeoutMs = TIMEOUT_MS, retries = RETRIES, signal }: CallOptions = {},
  ): Promise<AnswerOf<Name>> {
    const token = this.#token();
    const { method, path, isRead } = routeOf(name);
    const headers = { ...this.#headersFor(token), 'content-type': 'application/json' };
    const init = { method, headers, body: JSON.stringify(body) };
    const send = () => this.#send(path, init, { isRead, timeoutMs, signal });
    return this.#parse(await this.#sendPatiently(send, retries), token) as AnswerOf<Name>;
  }

  /** For operations whose body is not JSON. */
  async stream<Name extends OperationName>(name: Name, body: StreamedBody): Promise<AnswerOf<Name>> {
    const token = this.#token();
    const headers = {
      ...this.#headersFor(token),
      'content-type': body.contentType,
      ...commonHeaders(),
    };
    // Loaded lazily, because no other command needs it.
    const { postStream, UnreadableBody } = await import('./post-stream.ts');
    const { path } = routeOf(name);
    let answer: Answer;
    try {
      answer = await postStream(this.url + path, { headers, body: body.bytes(), idleMs: STREAM_IDLE_MS });
    } catch (error) {
      if (error instanceof UnreadableBody)
        throw new CliError(EXIT.refused, `A file that was to be sent cannot be read any more (${error.message}).`);
      throw new CliError(EXIT.unavailable, describeConnectionError(error, this.url, STREAM_IDLE_MS));
    }
    return this.#parse(answer, token) as AnswerOf<Name>;
  }

  /** For an operation that answers line by line, for as long as it takes. */
  async *lines(name: 'tryChecks', body: BodyOf<'tryChecks'>): AsyncGenerator<string> {
    const token = this.#token();
    const headers = { ...this.#headersFor(token), ...commonHeaders(), 'content-type': 'application/json' };
    const { requestLines } = await import('./read-lines.ts');
    try {
      const asked = { headers, body: JSON.stringify(body), idleMs: STREAM_IDLE_MS };
      const answer = await requestLines(this.url + routeOf(name).path, asked);
      if ('status' in answer) this.#parse(answer, token);
      else for await (const line of answer) if (line !== '') yield line;
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw new CliError(EXIT.unavailable, describeConnectionError(error, this.url, STREAM_IDLE_MS));
    }
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

  /** After a failover (D34) a write may have been done: it can be repeated, and a second creation is refused. */
  // SPEC W21
  async #sendPatiently(send: () => Promise<Answer>, retries: number): Promise<Answer> {
    for (let tried = 0; ; tried += 1) {
      const answer = await send();
      const { status, retryAfter } = answer;
      const isForNow = (status === 429 || status === 503) && retryAfter !== undefined;
      if (!isForNow || tried >= retries || retryAfter > MAX_RETRY_AFTER_S) return answer;
      this.onWait(`${causeOf(answer)} (HTTP ${status}). Trying again in ${retryAfter} s.`);
      await delay(retryAfter * 1000);
    }
  }

  async #send(
    path: string,
    init: Init,
    how: Pick<ExchangeOptions, 'timeoutMs' | 'signal'> & { readonly isRead: boolean; readonly isSecondTry?: true },
  ): Promise<Answer> {
    try {
      const headers = { ...init.headers, ...commonHeaders() };
      return await exchange(this.url + path, { ...init, headers, timeoutMs: how.timeoutMs, signal: how.signal });
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

  #parse({ status, type, text, location, retryAfter, version }: Answer, token: Token | undefined): unknown {
    this.#compareVersion(version);
    const isJson = /^application\/(?:problem\+)?json\b/.test(type);
    const value = isJson ? parseJson(text) : undefined;
    if (status >= 200 && status < 300 && value !== undefined) return value;
    if (status >= 400 && isProblem(value)) {
      throw new CliError(exitCodeOf(status), describeProblem(value, token), value, retryAfter);
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

  /** Only of the first answer: one warning is enough, and later ones would disturb a live display. */
  // SPEC W38
  #compareVersion(version: string | undefined): void {
    if (version === undefined || this.#isVersionRead) return;
    this.#isVersionRead = true;
    const gap = describeVersionGap(version);
    if (gap !== undefined) this.onVersionGap(gap);
  }
}

/** The server's own words tell more than its status: a disk that is full, a database that is away. */
function causeOf({ status, text }: Answer): string {
  const problem = status === 503 ? parseJson(text) : undefined;
  if (isProblem(problem)) return clean(problem.detail).replace(/\.$/, '');
  return status === 429 ? 'The server limits how often this token may ask' : 'The server is unavailable';
}

function commonHeaders() {
  return { accept: 'application/json', 'user-agent': `sluice-cli/${readVersion()}` };
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

/** Several addresses of a host fail together, as one error that holds theirs: the first one says most. */
function codeOf(error: unknown): string {
  const { errors, code, message } = error as { errors?: readonly unknown[]; code?: unknown; message?: string };
  if (errors?.[0] !== undefined) return codeOf(errors[0]);
  return typeof code === 'string' ? code : (message ?? '');
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error));
}

function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError || codeOf(error) === 'ETIMEDOUT';
}

function describeConnectionError(error: unknown, url: string, timeoutMs: number): string {
  if (isTimeout(error))
    return `The server at ${url} did not answer within ${timeoutMs / 1000} s. Look at its log, or try again.`;
  if (isReset(error))
    return `The server at ${url} closed the connection before it answered. Look at its log, or try again.`;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `No server answers at ${url}. ${START_TEXT}`;
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
