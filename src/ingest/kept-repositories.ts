import type { Monitor } from '../flaky/core/monitor.ts';
import type { Timing } from '../lib/clock.ts';
import type { OrganizationId } from '../storage/accounts.ts';
import type { Repository, RepositoryId } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { readTestSettings } from '../storage/test-codec.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import { applySettings } from './apply-settings.ts';
import { KeptTests, Stale, storeMemories } from './kept-tests.ts';

export interface Kept {
  readonly kept: KeptTests;
  readonly settings: StoredTestSettings;
}

/** How often another writer may commit first before it counts as an error. */
const MAX_TRIES = 50;

/** The tests of several repositories in memory, with one bound for all. */
export class KeptRepositories {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #testBranchPrefix: string;
  readonly #step: () => Promise<void>;
  readonly #all = new Map<RepositoryId, KeptTests>();
  readonly #repositories = new Map<RepositoryId, Repository>();
  readonly #organizations = new Map<OrganizationId, string>();

  constructor(
    store: Store,
    clock: Timing,
    { testBranchPrefix, step }: { readonly testBranchPrefix: string; readonly step: () => Promise<void> },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#testBranchPrefix = testBranchPrefix;
    this.#step = step;
  }

  async findRepository(id: RepositoryId): Promise<Repository | undefined> {
    if (!this.#repositories.has(id)) {
      for (const repository of await this.#store.repositories.listAll())
        this.#repositories.set(repository.id, repository);
    }
    return this.#repositories.get(id);
  }

  /** The slug, which is part of test ids. */
  async findOrganization({ organizationId }: Repository): Promise<string> {
    const known = this.#organizations.get(organizationId);
    if (known !== undefined) return known;
    const slug = (await this.#store.accounts.findOrganizationById(organizationId))?.slug;
    if (slug === undefined) throw new Error('its organization is gone');
    this.#organizations.set(organizationId, slug);
    return slug;
  }

  /**
   * Runs `act` on the tests in memory, and again on freshly read ones if another writer committed first. Changed
   * settings are applied before, so that new runs are counted under the stored settings.
   */
  use<T>(repository: Repository, act: (kept: Kept) => Promise<T>): Promise<T> {
    return this.#whileFresh(repository, async (kept) => {
      kept.lastUsedAt = this.#clock.now();
      // Read after the sequence number: a later change of settings then makes the next commit here stale.
      const settings = await readTestSettings(this.#store, repository);
      if (settings.version === settings.appliedVersion) return act({ kept, settings });
      return act({ kept, settings: await this.#applySettings(kept, settings) });
    });
  }

  // SPEC U33
  async #whileFresh<T>(repository: Repository, act: (kept: KeptTests) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await act(await this.#open(repository));
      } catch (error) {
        // The changes in memory are not stored, or the outcome is unknown.
        this.forget(repository.id);
        if (!(error instanceof Stale) || tries >= MAX_TRIES) throw error;
      }
      await this.#step();
    }
  }

  async storeMemories(repository: Repository): Promise<void> {
    await this.#whileFresh(repository, async (kept) => {
      const settings = await readTestSettings(this.#store, repository);
      await storeMemories(this.#store, { kept, settings }, this.#step);
    });
  }

  find(id: RepositoryId): KeptTests | undefined {
    return this.#all.get(id);
  }

  forget(id: RepositoryId): void {
    this.#all.delete(id);
  }

  forgetAll(): void {
    this.#all.clear();
    this.#repositories.clear();
    this.#organizations.clear();
  }

  [Symbol.iterator](): Iterator<KeptTests> {
    return [...this.#all.values()][Symbol.iterator]();
  }

  async #open(repository: Repository): Promise<KeptTests> {
    const known = this.#all.get(repository.id);
    if (known !== undefined) return known;
    const testBranchPrefix = this.#testBranchPrefix;
    const kept = await KeptTests.open(this.#store, { repository, testBranchPrefix, at: this.#clock.now() });
    this.#all.set(repository.id, kept);
    return kept;
  }

  /** Repeats until every test follows the latest version, because the settings may change meanwhile. */
  async #applySettings(kept: KeptTests, first: StoredTestSettings): Promise<StoredTestSettings> {
    const monitorsOf = this.#createVersions(kept.repository.id, first);
    let settings = first;
    // Raises the sequence number: a writer that read the old settings and has not committed yet gets a stale commit.
    await kept.commit({ tests: [], memories: [], events: [] }, this.#clock.now());
    for (;;) {
      await this.#step();
      const at = this.#clock.now();
      const count = await applySettings(this.#store, { kept, settings, monitorsOf, at, step: this.#step });
      const latest = await readTestSettings(this.#store, kept.repository);
      if (count === 0 && latest.version === settings.version) {
        await this.#store.testSettings.markApplied(kept.repository.id, settings.version);
        return readTestSettings(this.#store, kept.repository);
      }
      settings = { ...latest, appliedMonitors: first.appliedMonitors };
    }
  }

  /** A change that a later one interrupted leaves tests that follow neither the applied nor the new version. */
  #createVersions(id: RepositoryId, of: StoredTestSettings): (version: number) => Promise<readonly Monitor[]> {
    const known = new Map([[of.appliedVersion, of.appliedMonitors]]);
    return async (version) => {
      const monitors =
        known.get(version) ?? (await this.#store.testSettings.findMonitors(id, version)) ?? of.appliedMonitors;
      known.set(version, monitors);
      return monitors;
    };
  }
}
