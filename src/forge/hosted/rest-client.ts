import { pause, type Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { KNOWN_NOT_APPLIED } from '../known-not-applied.ts';
import { type Answer, isRepeatable, type Lost, send } from './exchange.ts';
import { bareText } from './forge-text.ts';

export interface RestClientOptions {
  readonly clock: Timing;
  readonly log: Log;
  readonly timeoutMs?: number;
}

export interface RestRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Begins with a slash. Variable parts are encoded by the caller. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Statuses beside 2xx that are answers. */
  readonly accept?: readonly number[] | 'any';
  /** Landings go before everything else. */
  readonly isUrgent?: boolean;
}

/** The REST API of a forge, as the account of one token. */
export interface RestApi<Request extends RestRequest> {
  readonly title: string;
  readonly host: string;
  readonly token: string;
  /** Reads the token again after the forge refused it. */
  readonly reload?: (() => Promise<string>) | undefined;
  /** Called after a refused token was replaced. */
  onRenewed?(): void;
  headersOf(token: string): Readonly<Record<string, string>>;
  /** The address without the query. */
  urlOf(request: Request): string | Promise<string>;
  /** Resolves when a request may be sent. A fault says that it may not be for a longer time. */
  admit?(request: Request, stop: AbortSignal): Promise<void>;
  /** True: the forge refused it for now, and it is sent again when it is admitted. */
  isPostponed?(answer: Answer<unknown>): boolean;
  messageIn(data: unknown): string;
  /** A sentence that tells the operator what to do. */
  explain(request: Request, refused: Refused): string;
}

export interface Refused {
  readonly status: number;
  readonly message: string;
}

/** Forges answer slowly when they have too much to do. */
const AT_ONCE = 6;
const TIMEOUT_MS = 20_000;
const RETRY_MS = 500;
const MAX_POSTPONED = 3;

// SPEC G160
export class RestClient<Request extends RestRequest> {
  readonly #api: RestApi<Request>;
  readonly #options: RestClientOptions;
  readonly #turns = new Semaphore<boolean>(AT_ONCE, (waiting) => Math.max(0, waiting.indexOf(true)));
  readonly #closing = new AbortController();
  #token: string;

  constructor(api: RestApi<Request>, options: RestClientOptions) {
    this.#api = api;
    this.#options = options;
    this.#token = api.token;
  }

  get token(): string {
    return this.#token;
  }

  /** A refused token is read again, and the request is sent once more. */
  async request<Data>(asked: Request): Promise<Answer<Data>> {
    const { host } = this.#api;
    let answer = await this.#exchangeTwice(asked);
    if (!('detail' in answer) && answer.status === 401 && (await this.#renewToken()))
      answer = await this.#exchangeTwice(asked);
    if ('detail' in answer) {
      const cause = answer.isSent ? {} : { cause: KNOWN_NOT_APPLIED };
      throw new Fault('FORGE_UNAVAILABLE', `${host} did not answer: ${answer.detail}`, cause);
    }
    const { accept = [] } = asked;
    const { status } = answer;
    if (status < 300 || accept === 'any' || accept.includes(status)) return answer as Answer<Data>;
    const message = bareText(this.#api.messageIn(answer.data));
    throw new Fault('FORGE_UNAVAILABLE', this.#api.explain(asked, { status, message }), { cause: { status } });
  }

  /** Undefined where the forge does not have it. */
  async find<Data>(asked: Request): Promise<Data | undefined> {
    const { status, data } = await this.request<Data>({ ...asked, accept: [404] });
    return status === 404 ? undefined : data;
  }

  close(): void {
    this.#closing.abort();
  }

  async #exchange(request: Request): Promise<Answer<unknown> | Lost> {
    const stop = this.#closing.signal;
    const api = this.#api;
    const address = await api.urlOf(request);
    const { method = 'GET', query = {}, body } = request;
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    const url = `${address}${search === '' ? '' : `?${search}`}`;
    const release = await this.#turns.take(request.isUrgent === true, stop);
    if (release === undefined) throw new Fault('SHUTTING_DOWN', 'The server stops.');
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    try {
      await api.admit?.(request, stop);
      const headers = api.headersOf(this.#token);
      return await send({ method, url, body, title: api.title, headers, timeoutMs, stop });
    } finally {
      release();
    }
  }

  async #exchangeTwice(request: Request): Promise<Answer<unknown> | Lost> {
    let answer = await this.#exchange(request);
    for (let times = 0; times < MAX_POSTPONED && this.#isPostponed(answer); times += 1)
      answer = await this.#exchange(request);
    if (!isRepeatable(request.method ?? 'GET', answer)) return answer;
    const path = nameOf(request);
    this.#options.log.debug({ path }, `${this.#api.title} is asked again`);
    await pause(this.#options.clock, RETRY_MS);
    return this.#exchange(request);
  }

  #isPostponed(answer: Answer<unknown> | Lost): boolean {
    return !('detail' in answer) && this.#api.isPostponed?.(answer) === true;
  }

  /** True if another token is there now. */
  async #renewToken(): Promise<boolean> {
    const former = this.#token;
    this.#token = (await this.#api.reload?.()) ?? former;
    if (this.#token !== former) this.#api.onRenewed?.();
    return this.#token !== former;
  }
}

/** Encodes each part of a branch name or an owner, and keeps the slashes. */
export function encodePath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/');
}

/** The path without its variable parts. */
function nameOf({ method = 'GET', path }: RestRequest): string {
  return `${method} ${path.replace(/\/[^/]*[0-9%][^/]*/g, '/{}')}`;
}
