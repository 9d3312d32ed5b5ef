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

/** As hosts are stored: nobody tells letters apart in them. What is no name of plain git does not become one. */
export function withSmallHost(ref: RepositoryRef): RepositoryRef {
  const host = ref.host.toLowerCase();
  return host === PLAIN_GIT_HOST ? ref : { ...ref, host };
}

/**
 * Finds repositories and queues by name. Where this server is the only writer it remembers what it found, and every use
 * case that changes a repository or a set of queues says so; where others write too it asks the store each time.
 */
export class Directory {
  readonly #store: Store;
  readonly #forges: ReadonlyMap<string, Forge>;
  readonly #known = new Map<string, unknown>();
  readonly #quarantined: QuarantineLookup;
  #generation = 0;

  /** `forges` may come to hold more while the server runs. */
  constructor(store: Store, forges: ReadonlyMap<string, Forge>) {
    this.#store = store;
    this.#forges = forges;
    this.#quarantined = new QuarantineLookup(store);
  }

  /**
   * Forges with people on them do not tell large letters from small ones in names; plain git does, and so may whatever
   * nobody connected.
   */
  async findRepository(organizationId: OrganizationId, ref: RepositoryRef): Promise<Repository | undefined> {
    const exact = await this.#remember(`r\n${organizationId}\n${ref.host}\n${ref.owner}\n${ref.name}`, () =>
      this.#store.repositories.find(organizationId, ref),
    );
    if (exact !== undefined) return exact;
    const { repositories } = this.#store;
    const small = withSmallHost(ref);
    // Not remembered: one name can be spelled in more ways than there is room for.
    if (this.#forges.get(small.host)?.hosting !== undefined) return repositories.findSpelled(organizationId, small);
    return small.host === ref.host ? undefined : repositories.find(organizationId, small);
  }

  /** The one that the forge knows by this id. */
  async findRepositoryAtForge(
    organizationId: OrganizationId,
    { host, forgeId }: { readonly host: string; readonly forgeId: string },
  ): Promise<Repository | undefined> {
    const all = await this.listRepositories(organizationId);
    return all.find((repository) => repository.host === host && repository.forgeId === forgeId);
  }

  /** Of all organizations. Forges do not tell large letters from small ones in names; `*` is any name. */
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
    // The repository may have been read before somebody changed it: only the id is kept.
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

  async #remember<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    if (known !== undefined) return known as T;
    const generation = this.#generation;
    const answer = await ask();
    // What was asked before somebody changed it may be old; what was not found may be there a moment later.
    const isSure = answer !== undefined && generation === this.#generation;
    if (isSure && !this.#store.isShared) this.#known.set(key, answer);
    return answer;
  }
}
