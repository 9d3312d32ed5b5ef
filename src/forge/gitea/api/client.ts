import { pause, type Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { Log } from '../../../lib/log.ts';
import { Remembered } from '../../../lib/remembered.ts';
import { Semaphore } from '../../../lib/semaphore.ts';
import { bareText } from '../../hosted/forge-text.ts';
import { keyOf } from '../../hosted/repository-key.ts';
import type { RepositoryName } from '../../hosting.ts';
import type { AccountData, RepositoryData } from './data.ts';
import { type Answer, type Exchange, isRepeatable, type Lost, send } from './exchange.ts';
import { lostAnswer, messageIn, refusedAnswer } from './unavailable.ts';

export interface GiteaConnection {
  /** The value of `repo.host`, in lower case. */
  readonly host: string;
  /** For people, git and the API, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** Without a secret every delivery is refused, and the poller is the only source of events. */
  readonly webhookSecret?: string;
  /** Reads the token again after Gitea refused it. */
  readonly reload?: (() => Promise<string>) | undefined;
}

export interface GiteaClientOptions {
  readonly connection: GiteaConnection;
  readonly clock: Timing;
  readonly log: Log;
  readonly timeoutMs?: number;
}

export interface GiteaRequest {
  /** The path is below this repository. Without one, it is below the API. */
  readonly repository?: RepositoryName;
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

/** Gitea has no rate limit, and answers slowly instead when it has too much to do. */
const AT_ONCE = 6;
const TIMEOUT_MS = 20_000;
const RETRY_MS = 500;
/** Gitea cuts longer pages, unless its operator chose another limit. */
const USUAL_PAGE = 50;
const MAX_KNOWN = 1_000;

// SPEC G160
export class GiteaClient {
  readonly connection: GiteaConnection;
  readonly #options: GiteaClientOptions;
  readonly #turns = new Semaphore<boolean>(AT_ONCE, (waiting) => Math.max(0, waiting.indexOf(true)));
  readonly #closing = new AbortController();
  readonly #repositories = new Remembered<RepositoryData>({ capacity: MAX_KNOWN });
  readonly #account = new Remembered<AccountData>({ capacity: 1 });
  readonly #pageSize = new Remembered<number>({ capacity: 1 });
  #token: string;
  #ownId: number | undefined;

  constructor(options: GiteaClientOptions) {
    this.connection = options.connection;
    this.#options = options;
    this.#token = options.connection.token;
  }

  get token(): string {
    return this.#token;
  }

  /** The number of the account of the token, once it was read. */
  get ownId(): number | undefined {
    return this.#ownId;
  }

  /** A refused token is read again, and the request is sent once more. */
  async request<Data>(asked: GiteaRequest): Promise<Answer<Data>> {
    let answer = await this.#exchangeTwice(asked);
    if (!('detail' in answer) && answer.status === 401 && (await this.#renewToken()))
      answer = await this.#exchangeTwice(asked);
    if ('detail' in answer) throw lostAnswer(this.connection.host, answer);
    const { accept = [] } = asked;
    const isExpected = answer.status < 300 || accept === 'any' || accept.includes(answer.status);
    if (isExpected) return answer as Answer<Data>;
    throw refusedAnswer(asked.repository, { status: answer.status, message: bareText(messageIn(answer.data)) });
  }

  /** Undefined where Gitea does not have it. */
  async find<Data>(asked: GiteaRequest): Promise<Data | undefined> {
    const { status, data } = await this.request<Data>({ ...asked, accept: [404] });
    return status === 404 ? undefined : data;
  }

  /** The number of items in a full page. A page that Gitea cut would look like the last one. */
  readPageSize(): Promise<number> {
    return this.#pageSize.get('size', async () => {
      const path = '/settings/api';
      const { data } = await this.request<{ readonly max_response_items?: number }>({ path, accept: [403, 404] });
      const most = data?.max_response_items;
      return typeof most === 'number' && most > 0 ? Math.min(USUAL_PAGE, most) : USUAL_PAGE;
    });
  }

  /** Reads pages until one is not full. */
  async list<Item>(asked: GiteaRequest, maxPages: number): Promise<readonly Item[]> {
    const items: Item[] = [];
    const limit = await this.readPageSize();
    for (let page = 1; page <= maxPages; page += 1) {
      const query = { ...asked.query, page, limit };
      const { data } = await this.request<readonly Item[] | null>({ ...asked, query });
      const some = Array.isArray(data) ? (data as readonly Item[]) : [];
      items.push(...some);
      if (some.length < limit) break;
    }
    return items;
  }

  readOwn(): Promise<AccountData> {
    return this.#account.get('own', async () => {
      const { data } = await this.request<AccountData>({ path: '/user' });
      this.#ownId = data.id;
      return data;
    });
  }

  /** May be cached, unless it `isAsked` for now. */
  resolve(repository: RepositoryName, { isAsked } = { isAsked: false }): Promise<RepositoryData> {
    const key = keyOf(repository);
    if (isAsked) this.#repositories.forget(key);
    return this.#repositories.get(key, async () => (await this.request<RepositoryData>({ repository, path: '' })).data);
  }

  forget(owner: string, name?: string): void {
    this.#repositories.forget(name === undefined ? undefined : keyOf({ owner, name }));
  }

  close(): void {
    this.#closing.abort();
  }

  async #exchange(request: GiteaRequest): Promise<Answer<unknown> | Lost> {
    const stop = this.#closing.signal;
    const release = await this.#turns.take(request.isUrgent === true, stop);
    if (release === undefined) throw new Fault('SHUTTING_DOWN', 'The server stops.');
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    try {
      return await send({ ...wireOf(this.connection, request), token: this.#token, timeoutMs, stop });
    } finally {
      release();
    }
  }

  async #exchangeTwice(request: GiteaRequest): Promise<Answer<unknown> | Lost> {
    const first = await this.#exchange(request);
    if (!isRepeatable(request.method ?? 'GET', first)) return first;
    this.#options.log.debug({ path: nameOf(request) }, 'Gitea is asked again');
    await pause(this.#options.clock, RETRY_MS);
    return this.#exchange(request);
  }

  /** True if another token is there now. */
  async #renewToken(): Promise<boolean> {
    const former = this.#token;
    this.#token = (await this.connection.reload?.()) ?? former;
    if (this.#token !== former) this.#account.forget();
    return this.#token !== former;
  }
}

function wireOf(
  { url }: GiteaConnection,
  { repository, method = 'GET', path, query = {}, body }: GiteaRequest,
): Exchange {
  const below =
    repository === undefined ? '' : `/repos/${encodePath(repository.owner)}/${encodeURIComponent(repository.name)}`;
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return { method, url: `${url}/api/v1${below}${path}${search === '' ? '' : `?${search}`}`, body };
}

/** Encodes each part of a branch name or an owner, and keeps the slashes. */
export function encodePath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/');
}

/** The path without its variable parts. */
function nameOf({ method = 'GET', path }: GiteaRequest): string {
  return `${method} ${path.replace(/\/[^/]*[0-9%][^/]*/g, '/{}')}`;
}
