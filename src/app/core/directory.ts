import type { Forge } from '../../forge/forge.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import { PLAIN_GIT_HOST } from './plain-git-host.ts';
import { type QuarantinedIds, QuarantineLookup } from './quarantine-lookup.ts';

export interface QueuePlace {
  readonly repository: Repository;
  readonly queueId: QueueId;
}

/** Hosts are stored in lower case. The host of plain git is case-sensitive: "LOCAL" must not become "local". */
// SPEC G118
export function withSmallHost(ref: RepositoryRef): RepositoryRef {
  const host = ref.host.toLowerCase();
  return host === PLAIN_GIT_HOST ? ref : { ...ref, host };
}

/**
 * Finds repositories and queues by name. Where this server is the only writer, it caches what it found, and every use
 * case that changes a repository or a set of queues calls `forget`. On a shared store it reads the store each time.
 */
export class Directory {
  readonly #store: Store;
  readonly #forges: ReadonlyMap<string, Forge>;
  readonly #known = new Map<string, unknown>();
  readonly #quarantined: QuarantineLookup;
  #generation = 0;

  /** `forges` may grow while the server runs. */
  constructor(store: Store, forges: ReadonlyMap<string, Forge>) {
    this.#store = store;
    this.#forges = forges;
    this.#quarantined = new QuarantineLookup(store);
  }

  /**
   * Hosted forges ignore case in names. Plain git does not, and neither may a host that is not connected, so those
   * names
   * are compared exactly.
   */
  // SPEC G79
  async findRepository(organizationId: OrganizationId, ref: RepositoryRef): Promise<Repository | undefined> {
    const exact = await this.#remember(`r\n${organizationId}\n${ref.host}\n${ref.owner}\n${ref.name}`, () =>
      this.#store.repositories.find(organizationId, ref),
    );
    if (exact !== undefined) return exact;
    const { repositories } = this.#store;
    const small = withSmallHost(ref);
    // Not cached: a caller could fill the memory with spellings of one name.
    if (this.#forges.get(small.host)?.hosting !== undefined) return repositories.findSpelled(organizationId, small);
    return small.host === ref.host ? undefined : repositories.find(organizationId, small);
  }

  async findRepositoryAtForge(
    organizationId: OrganizationId,
    { host, forgeId }: { readonly host: string; readonly forgeId: string },
  ): Promise<Repository | undefined> {
    const all = await this.listRepositories(organizationId);
    return all.find((repository) => repository.host === host && repository.forgeId === forgeId);
  }

  /** Repositories of all organizations, compared without case as hosted forges do. `*` is any name. */
  async findRepositoriesAt({ host, owner, name }: RepositoryRef): Promise<readonly Repository[]> {
    const isMeant = (repository: Repository) =>
      repository.host === host &&
      repository.owner.toLowerCase() === owner.toLowerCase() &&
      (name === '*' || repository.name.toLowerCase() === name.toLowerCase());
    const all = await this.#remember('A', () => this.#store.repositories.listAll());
    return all.filter(isMeant);
  }

  findRepositoryById(id: RepositoryId): Promise<Repository | undefined> {
    return this.#remember(`i\n${id}`, async () => (await this.#store.repositories.listAll()).find((r) => r.id === id));
  }

  async findQueue(organizationId: OrganizationId, ref: RepositoryRef, branch: string): Promise<QueuePlace | undefined> {
    const repository = await this.findRepository(organizationId, ref);
    if (repository === undefined) return undefined;
    // Only the id is cached: the repository may have been read before another request changed it.
    const queueId = await this.#remember(`q\n${repository.id}\n${branch}`, async () => {
      const row = await this.#store.queues.find(repository.id, branch);
      return row?.id;
    });
    return queueId && { repository, queueId };
  }

  listRepositories(organizationId: OrganizationId): Promise<readonly Repository[]> {
    return this.#remember(`R\n${organizationId}`, () => this.#store.repositories.list(organizationId));
  }

  listQueueIds(repositoryId: RepositoryId): Promise<readonly QueueId[]> {
    return this.#remember(`Q\n${repositoryId}`, async () => {
      const rows = await this.#store.queues.listByRepository(repositoryId);
      return rows.map((row) => row.id);
    });
  }

  findQuarantined(repositoryId: RepositoryId): Promise<QuarantinedIds> {
    return this.#quarantined.find(repositoryId);
  }

  forget(): void {
    this.#known.clear();
    this.#quarantined.forget();
    this.#generation += 1;
  }

  async #remember<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    if (known !== undefined) return known as T;
    const generation = this.#generation;
    const answer = await read();
    // An answer that was read before `forget` may be outdated, and a missing row may be stored a moment later.
    const isSure = answer !== undefined && generation === this.#generation;
    if (isSure && !this.#store.isShared) this.#known.set(key, answer);
    return answer;
  }
}
