import type { RepositoryId } from '../../storage/repositories.ts';
import type { TestStore } from '../../storage/tests.ts';

export interface QuarantinedIds {
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
  /**
   * Reads under way, by repository and version: many requests come at once when the set changed, and share one read.
   */
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
