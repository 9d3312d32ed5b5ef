import type { Forge } from '../../forge/forge.ts';
import { systemClock } from '../../lib/clock.ts';
import { SharedReads } from '../../lib/shared-reads.ts';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Repository, RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { Store } from '../../storage/store.ts';
import type { TestStore } from '../../storage/tests.ts';

export const PLAIN_GIT_HOST = 'local';

const MAX_GUESSES = 10_000;

interface QueuePlace {
  readonly repository: Repository;
  readonly queueId: QueueId;
}

type GuessedPlace = QueuePlace & { readonly isGuess?: boolean };

/** Hosts are stored in lower case. The host of plain git is case-sensitive: "LOCAL" must not become "local". */
// SPEC G118
export function withSmallHost(ref: RepositoryRef): RepositoryRef {
  const host = ref.host.toLowerCase();
  return host === PLAIN_GIT_HOST ? ref : { ...ref, host };
}

/** The only writer caches what it found, and whoever changes a repository or a set of queues calls `forget`. */
export class Directory {
  readonly #store: Store;
  readonly #forges: ReadonlyMap<string, Forge>;
  readonly #known = new Map<string, unknown>();
  readonly #guesses = new Map<string, QueueId>();
  readonly #reads: SharedReads<string, unknown>;
  readonly #quarantined: QuarantineLookup;
  #generation = 0;

  /** `forges` may grow while the server runs. */
  constructor(store: Store, forges: ReadonlyMap<string, Forge>, clock = systemClock) {
    this.#store = store;
    this.#forges = forges;
    this.#reads = new SharedReads(clock);
    this.#quarantined = new QuarantineLookup(store);
  }

  /** Plain git does not ignore case in names, and neither may a host that is not connected. */
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

  /** Repositories of all organizations that the forge knows by this id, whatever their names here. */
  async findRepositoriesWithId(host: string, forgeId: string): Promise<readonly Repository[]> {
    const all = await this.#remember('A', () => this.#store.repositories.listAll());
    return all.filter((repository) => repository.host === host && repository.forgeId === forgeId);
  }

  async findRepositoryById(id: RepositoryId): Promise<Repository | undefined> {
    return this.#remember(`i\n${id}`, async () => (await this.#store.repositories.listAll()).find((r) => r.id === id));
  }

  async findQueue(organizationId: OrganizationId, ref: RepositoryRef, branch: string): Promise<QueuePlace | undefined> {
    const repository = await this.findRepository(organizationId, ref);
    if (repository === undefined) return undefined;
    const queueId = await this.#remember(`q\n${repository.id}\n${branch}`, async () => {
      const row = await this.#store.queues.find(repository.id, branch);
      return row?.id;
    });
    return queueId && { repository, queueId };
  }

  /** The queue may have been deleted since this server saw it. A caller that does not find it calls `forgetQueue`. */
  async guessQueue(
    organizationId: OrganizationId,
    ref: RepositoryRef,
    branch: string,
  ): Promise<GuessedPlace | undefined> {
    if (!this.#store.isShared) return this.findQueue(organizationId, ref, branch);
    const repository = await this.findRepository(organizationId, ref);
    if (repository === undefined) return undefined;
    const key = `${repository.id}\n${branch}`;
    const guess = this.#guesses.get(key);
    if (guess !== undefined) return { repository, queueId: guess, isGuess: true };
    const queueId = (await this.#store.queues.find(repository.id, branch))?.id;
    if (this.#guesses.size >= MAX_GUESSES) this.#guesses.clear();
    if (queueId !== undefined) this.#guesses.set(key, queueId);
    return queueId && { repository, queueId };
  }

  forgetQueue({ repository }: QueuePlace, branch: string): void {
    this.#guesses.delete(`${repository.id}\n${branch}`);
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
    if (this.#store.isShared) return this.#reads.get(key, read) as Promise<T>;
    const known = this.#known.get(key) as T | undefined;
    if (known !== undefined) return known;
    const generation = this.#generation;
    const answer = await read();
    // An answer that was read before `forget` may be outdated, and a missing row may be stored a moment later.
    const isSure = answer !== undefined && generation === this.#generation;
    if (isSure) this.#known.set(key, answer);
    return answer;
  }
}

interface QuarantinedIds {
  readonly version: number;
  readonly ids: ReadonlySet<string>;
}

type QuarantineStore = Pick<TestStore, 'getQuarantineVersion' | 'listQuarantinedIds'>;

/** Ten thousand ids take about a megabyte of memory. */
const MAX_REPOSITORIES = 200;

/** Caches the ids of quarantined tests, and asks the store only whether their version is still the same. */
export class QuarantineLookup {
  readonly #store: { readonly tests: QuarantineStore };
  readonly #known = new Map<RepositoryId, QuarantinedIds>();
  /** Reads under way, by repository and version: many requests that come at once share one read. */
  readonly #reading = new Map<string, Promise<QuarantinedIds>>();

  constructor(store: { readonly tests: QuarantineStore }) {
    this.#store = store;
  }

  async find(repositoryId: RepositoryId): Promise<QuarantinedIds> {
    const version = await this.#store.tests.getQuarantineVersion(repositoryId);
    const known = this.#known.get(repositoryId);
    if (known !== undefined && known.version >= version) return known;
    return this.#read(repositoryId, version);
  }

  /** After a restore the same version may mean another set. */
  forget(): void {
    this.#known.clear();
    this.#reading.clear();
  }

  /** A caller that saw this version needs a read that began after it. All callers that saw it share one. */
  #read(repositoryId: RepositoryId, version: number): Promise<QuarantinedIds> {
    const key = `${repositoryId} ${version}`;
    const present = this.#reading.get(key);
    if (present !== undefined) return present;
    const reading: Promise<QuarantinedIds> = this.#store.tests
      .listQuarantinedIds(repositoryId)
      .then((read) => {
        const found = { version: read.version, ids: new Set(read.ids) };
        if (this.#reading.get(key) === reading) this.#keep(repositoryId, found);
        return found;
      })
      .finally(() => {
        if (this.#reading.get(key) === reading) this.#reading.delete(key);
      });
    this.#reading.set(key, reading);
    return reading;
  }

  #keep(repositoryId: RepositoryId, found: QuarantinedIds): void {
    const known = this.#known.get(repositoryId);
    if (known !== undefined && known.version > found.version) return;
    if (known === undefined && this.#known.size >= MAX_REPOSITORIES) this.#known.clear();
    this.#known.set(repositoryId, found);
  }
}
