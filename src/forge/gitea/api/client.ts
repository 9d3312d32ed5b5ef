import { BoundedCache } from '../../../git/bounded-cache.ts';
import { pause, type Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import type { Log } from '../../../lib/log.ts';
import { Semaphore } from '../../../lib/semaphore.ts';
import { bareText } from '../../hosted/forge-text.ts';
import type { RepositoryName } from '../../hosting.ts';
import type { AccountData, RepositoryData } from './data.ts';
import { type Answer, type Exchange, isRepeatable, type Lost, send } from './exchange.ts';
import { lostAnswer, messageIn, refusedAnswer } from './unavailable.ts';

/** The connection to one Gitea or Forgejo. */
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

export interface GiteaClient {
  readonly connection: GiteaConnection;
  /** A refused token is read again, and the request is sent once more. */
  request<Data>(request: GiteaRequest): Promise<Answer<Data>>;
  /** The number of items in a full page. */
  readPageSize(): Promise<number>;
  /** Reads pages until one is not full. */
  list<Item>(request: GiteaRequest, maxPages: number): Promise<readonly Item[]>;
  /** The account of the token. */
  readOwn(): Promise<AccountData>;
  /** The number of that account, once it was read. */
  readonly ownId: number | undefined;
  /** May be cached, unless it `isAsked` for now. */
  resolve(repository: RepositoryName, how?: { readonly isAsked: boolean }): Promise<RepositoryData>;
  readonly token: string;
  forget(owner: string, name?: string): void;
  close(): void;
}

/** Gitea has no rate limit, and answers slowly instead when it has too much to do. */
const AT_ONCE = 6;
const TIMEOUT_MS = 20_000;
const RETRY_MS = 500;
/** Gitea cuts longer pages, unless its operator chose another limit. */
const USUAL_PAGE = 50;
const MAX_KNOWN = 1_000;

// SPEC G160
export function createGiteaClient(options: GiteaClientOptions): GiteaClient {
  const { connection, clock, log, timeoutMs = TIMEOUT_MS } = options;
  const turns = new Semaphore<boolean>(AT_ONCE, (waiting) => Math.max(0, waiting.indexOf(true)));
  const closing = new AbortController();
  let known = new BoundedCache<string, Promise<RepositoryData>>(MAX_KNOWN);
  let { token } = connection;
  let own: Promise<AccountData> | undefined;
  let ownId: number | undefined;
  let pageSize: Promise<number> | undefined;

  async function exchange(request: GiteaRequest): Promise<Answer<unknown> | Lost> {
    const release = await turns.take(request.isUrgent === true, closing.signal);
    if (release === undefined) throw new Fault('SHUTTING_DOWN', 'The server stops.');
    try {
      return await send({ ...wireOf(connection, request), token, timeoutMs, stop: closing.signal });
    } finally {
      release();
    }
  }

  async function exchangeTwice(request: GiteaRequest): Promise<Answer<unknown> | Lost> {
    const first = await exchange(request);
    if (!isRepeatable(request.method ?? 'GET', first)) return first;
    log.debug({ path: nameOf(request) }, 'Gitea is asked again');
    await pause(clock, RETRY_MS);
    return exchange(request);
  }

  /** True if another token is there now. */
  async function renewToken(): Promise<boolean> {
    const former = token;
    if (connection.reload !== undefined) token = await connection.reload();
    if (token !== former) own = undefined;
    return token !== former;
  }

  async function request<Data>(asked: GiteaRequest): Promise<Answer<Data>> {
    let answer = await exchangeTwice(asked);
    if (!('detail' in answer) && answer.status === 401 && (await renewToken())) answer = await exchangeTwice(asked);
    if ('detail' in answer) throw lostAnswer(connection.host, answer);
    const { accept = [] } = asked;
    const isExpected = answer.status < 300 || accept === 'any' || accept.includes(answer.status);
    if (isExpected) return answer as Answer<Data>;
    throw refusedAnswer(asked.repository, { status: answer.status, message: bareText(messageIn(answer.data)) });
  }

  function keepOwn({ data }: Answer<AccountData>): AccountData {
    ownId = data.id;
    return data;
  }

  async function readRepository(repository: RepositoryName): Promise<RepositoryData> {
    return (await request<RepositoryData>({ repository, path: '' })).data;
  }

  /** A page that Gitea cut would look like the last one. */
  function readPageSize(): Promise<number> {
    const asked = pageSize ?? askPageSize();
    pageSize = asked;
    asked.catch(() => {
      if (pageSize === asked) pageSize = undefined;
    });
    return asked;
  }

  async function askPageSize(): Promise<number> {
    const path = '/settings/api';
    const { data } = await request<{ readonly max_response_items?: number }>({ path, accept: [403, 404] });
    const most = data?.max_response_items;
    return typeof most === 'number' && most > 0 ? Math.min(USUAL_PAGE, most) : USUAL_PAGE;
  }

  return {
    connection,
    request,
    readPageSize,
    get token() {
      return token;
    },

    async list<Item>(asked: GiteaRequest, maxPages: number) {
      const items: Item[] = [];
      const limit = await readPageSize();
      for (let page = 1; page <= maxPages; page += 1) {
        const { data } = await request<readonly Item[] | null>({ ...asked, query: { ...asked.query, page, limit } });
        const some = Array.isArray(data) ? (data as readonly Item[]) : [];
        items.push(...some);
        if (some.length < limit) break;
      }
      return items;
    },

    get ownId() {
      return ownId;
    },

    readOwn() {
      const asked = own ?? request<AccountData>({ path: '/user' }).then(keepOwn);
      own = asked;
      asked.catch(() => {
        if (own === asked) own = undefined;
      });
      return asked;
    },

    resolve(repository, { isAsked } = { isAsked: false }) {
      const key = keyOf(repository);
      const found = (isAsked ? undefined : known.find(key)) ?? readRepository(repository);
      known.set(key, found);
      found.catch(() => {
        if (known.find(key) === found) known.delete(key);
      });
      return found;
    },

    forget(owner, name) {
      if (name === undefined) known = new BoundedCache(MAX_KNOWN);
      else known.delete(keyOf({ owner, name }));
    },

    close: () => closing.abort(),
  };
}

/** Gitea ignores case in names. */
export function keyOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase();
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
