import { Remembered } from '../../../lib/remembered.ts';
import type { Answer } from '../../hosted/exchange.ts';
import { keyOf } from '../../hosted/repository-key.ts';
import { RestClient, type RestClientOptions, type RestRequest } from '../../hosted/rest-client.ts';
import type { RepositoryIdentity, RepositoryName } from '../../hosting.ts';
import type { ProjectData, UserData } from './data.ts';
import { createRateLimit } from './rate-limit.ts';
import { explain, messageIn } from './unavailable.ts';

export interface GitlabConnection {
  /** The value of `repo.host`, in lower case. */
  readonly host: string;
  /** For people, git and the API, without a slash at the end. */
  readonly url: string;
  readonly token: string;
  /** Without a secret every delivery is refused, and the poller is the only source of events. */
  readonly webhookSecret?: string;
  /** A file with the private key that pushes. Without one, the token pushes. */
  readonly deployKeyFile?: string;
  /** Reads the token again after GitLab refused it. */
  readonly reload?: (() => Promise<string>) | undefined;
}

export interface GitlabClientOptions extends RestClientOptions {
  readonly connection: GitlabConnection;
}

/** With GitLab's own number, if it is known: then a rename changes nothing. */
export interface ProjectName extends RepositoryName {
  readonly forgeId?: string;
}

export interface GitlabRequest extends RestRequest {
  /** The path is below this project. Without one, it is below the API. */
  readonly repository?: ProjectName;
}

const PER_PAGE = 100;
const MAX_KNOWN = 1_000;

// SPEC G180
export class GitlabClient {
  readonly connection: GitlabConnection;
  readonly #rest: RestClient<GitlabRequest>;
  readonly #projects = new Remembered<ProjectData>({ capacity: MAX_KNOWN });
  readonly #account = new Remembered<UserData>({ capacity: 1 });
  #ownId: number | undefined;

  constructor({ connection, ...options }: GitlabClientOptions) {
    const { host, url, token, reload } = connection;
    const limit = createRateLimit(options.clock);
    this.connection = connection;
    this.#rest = new RestClient<GitlabRequest>(
      {
        ...{ title: 'GitLab', host, token, reload, explain, messageIn },
        onRenewed: () => this.#account.forget(),
        headersOf: (present) => ({ 'private-token': present }),
        urlOf: async ({ repository, path }) =>
          `${url}/api/v4${repository === undefined ? '' : `/projects/${await this.#numberOf(repository)}`}${path}`,
        admit: ({ isUrgent = false }) => limit.admit(isUrgent),
        isPostponed: (answer) => limit.observe(answer),
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

  request<Data>(asked: GitlabRequest): Promise<Answer<Data>> {
    return this.#rest.request(asked);
  }

  /** Undefined where GitLab does not have it. */
  find<Data>(asked: GitlabRequest): Promise<Data | undefined> {
    return this.#rest.find(asked);
  }

  /** One page of a list, and whether another one follows. */
  async readPage<Item>(
    asked: GitlabRequest,
    page = 1,
  ): Promise<{ readonly items: readonly Item[]; readonly next: boolean; readonly last: number | undefined }> {
    const query = { ...asked.query, per_page: PER_PAGE, page };
    const { data, headers } = await this.request<readonly Item[] | null>({ ...asked, query });
    const items = Array.isArray(data) ? (data as readonly Item[]) : [];
    const last = Number(headers.get('x-total-pages')) || undefined;
    return { items, next: (headers.get('x-next-page') ?? '') !== '', last };
  }

  async list<Item>(asked: GitlabRequest, maxPages: number): Promise<readonly Item[]> {
    const items: Item[] = [];
    for (let page = 1; page <= maxPages; page += 1) {
      const found = await this.readPage<Item>(asked, page);
      items.push(...found.items);
      if (!found.next) break;
    }
    return items;
  }

  readOwn(): Promise<UserData> {
    return this.#account.get('own', async () => {
      const { data } = await this.request<UserData>({ path: '/user' });
      this.#ownId = data.id;
      return data;
    });
  }

  /** By its number where that is known, else by its name. May be cached, unless it `isAsked` for now. */
  async resolve(repository: ProjectName, { isAsked } = { isAsked: false }): Promise<ProjectData> {
    const key = repository.forgeId ?? keyOf(repository);
    if (isAsked) this.#projects.forget(key);
    const path = `/projects/${repository.forgeId ?? encodeURIComponent(`${repository.owner}/${repository.name}`)}`;
    return this.#projects.get(key, async () => (await this.request<ProjectData>({ path })).data);
  }

  forget(): void {
    this.#projects.forget();
  }

  close(): void {
    this.#rest.close();
  }

  async #numberOf(repository: ProjectName): Promise<string> {
    return repository.forgeId ?? String((await this.resolve(repository)).id);
  }
}

export function identityOf({ id, path, namespace }: ProjectData): RepositoryIdentity {
  return { owner: namespace.full_path, name: path, forgeId: String(id) };
}
