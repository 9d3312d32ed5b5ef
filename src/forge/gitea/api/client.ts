import { Remembered } from '../../../lib/remembered.ts';
import type { Answer } from '../../hosted/exchange.ts';
import { keyOf } from '../../hosted/repository-key.ts';
import { encodePath, RestClient, type RestClientOptions, type RestRequest } from '../../hosted/rest-client.ts';
import type { RepositoryName } from '../../hosting.ts';
import type { AccountData, RepositoryData } from './data.ts';
import { explain, messageIn } from './unavailable.ts';

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

export interface GiteaClientOptions extends RestClientOptions {
  readonly connection: GiteaConnection;
}

export interface GiteaRequest extends RestRequest {
  /** The path is below this repository. Without one, it is below the API. */
  readonly repository?: RepositoryName;
}

/** Gitea cuts longer pages, unless its operator chose another limit. */
const USUAL_PAGE = 50;
const MAX_KNOWN = 1_000;

export class GiteaClient {
  readonly connection: GiteaConnection;
  readonly #rest: RestClient<GiteaRequest>;
  readonly #repositories = new Remembered<RepositoryData>({ capacity: MAX_KNOWN });
  readonly #account = new Remembered<AccountData>({ capacity: 1 });
  readonly #pageSize = new Remembered<number>({ capacity: 1 });
  #ownId: number | undefined;

  constructor({ connection, ...options }: GiteaClientOptions) {
    const { host, url, token, reload } = connection;
    this.connection = connection;
    this.#rest = new RestClient<GiteaRequest>(
      {
        ...{ title: 'Gitea', host, token, reload, explain, messageIn },
        onRenewed: () => this.#account.forget(),
        headersOf: (present) => ({ authorization: `token ${present}` }),
        urlOf: ({ repository, path }) => `${url}/api/v1${repository === undefined ? '' : placeOf(repository)}${path}`,
      },
      options,
    );
  }

  get token(): string {
    return this.#rest.token;
  }

  /** The number of the account of the token, once it was read. */
  get ownId(): number | undefined {
    return this.#ownId;
  }

  request<Data>(asked: GiteaRequest): Promise<Answer<Data>> {
    return this.#rest.request(asked);
  }

  /** Undefined where Gitea does not have it. */
  find<Data>(asked: GiteaRequest): Promise<Data | undefined> {
    return this.#rest.find(asked);
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
    this.#rest.close();
  }
}

function placeOf({ owner, name }: RepositoryName): string {
  return `/repos/${encodePath(owner)}/${encodeURIComponent(name)}`;
}
