import type { Instant, Timing } from '../lib/clock.ts';
import { Fault } from '../lib/fault.ts';
import type { Log } from '../lib/log.ts';
import type { Repository, RepositoryId } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { expireTests } from './expire-tests.ts';
import { Interrupted } from './interrupts.ts';
import type { KeptRepositories } from './kept-repositories.ts';
import type { KeptTests } from './kept-tests.ts';
import { hasMuchToMerge } from './merge-runs.ts';
import { forgetOldRuns, type KeepLimits, tidyUploads } from './retention.ts';
import { createBacklogWatch } from './watch-backlog.ts';

export interface UpkeepDeps {
  readonly store: Store;
  readonly clock: Timing;
  readonly log: Log;
  readonly kept: KeptRepositories;
  readonly options: KeepLimits & { readonly maxTests: number };
  /** Throws where the work is to be left. */
  step(): Promise<void>;
}

const MERGE_IDLE_MS = 60_000;
const FIRST_RETENTION_MS = 60_000;
const RETENTION_EVERY_MS = 3_600_000;
/** Tests at which something is due, of one transaction. */
const DUE_AT_ONCE = 256;
const SICK_MS = 60_000;
/** What is damaged in one repository must not keep the others waiting either; a store that was away is back soon. */
const STORE_AWAY_MS = 5_000;

/** What is to be done between uploads: due statuses, changed settings, merging, retention. */
export class Upkeep {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #kept: KeptRepositories;
  readonly #options: UpkeepDeps['options'];
  readonly #step: () => Promise<void>;
  readonly #watchBacklog: () => Promise<void>;
  readonly #sickUntil = new Map<RepositoryId, Instant>();
  #retentionAt: Instant;

  constructor({ store, clock, log, kept, options, step }: UpkeepDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#kept = kept;
    this.#options = options;
    this.#step = step;
    this.#watchBacklog = createBacklogWatch({ uploads: store.uploads, clock, log });
    this.#retentionAt = clock.now() + FIRST_RETENTION_MS;
  }

  /** Behind every upload. */
  async tidyMemory(): Promise<void> {
    for (const kept of this.#kept) if (hasMuchToMerge(kept)) await this.#merge(kept);
    await this.#kept.shrink(this.#options.maxTests, (kept) => this.#merge(kept));
  }

  #merge({ repository }: KeptTests): Promise<void> {
    return this.#lookAfter(repository.id, () => this.#kept.merge(repository));
  }

  /** What goes wrong in one repository must not keep the others waiting. */
  async #lookAfter(repositoryId: RepositoryId, act: (repository: Repository) => Promise<void>): Promise<void> {
    const now = this.#clock.now();
    if ((this.#sickUntil.get(repositoryId) ?? 0) > now) return;
    try {
      const repository = await this.#kept.findRepository(repositoryId);
      if (repository !== undefined) await act(repository);
      this.#sickUntil.delete(repositoryId);
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      this.#sickUntil.set(repositoryId, now + (error instanceof Fault ? STORE_AWAY_MS : SICK_MS));
      if (error instanceof Fault) throw error;
      this.#log.error({ err: error, repository: repositoryId }, 'could not look after the tests of a repository');
    }
  }

  /** What changes although no upload comes. Answers whether there was something. */
  async doChores(): Promise<boolean> {
    await this.#watchBacklog();
    const behind = await this.#store.testSettings.listBehind();
    for (const repositoryId of behind)
      await this.#lookAfter(repositoryId, (repository) => this.#bringUpToDate(repository));
    const now = this.#clock.now();
    const due = await this.#store.testIngest.listDue(now, DUE_AT_ONCE);
    for (const [repositoryId, tests] of Map.groupBy(due, (test) => test.repositoryId)) {
      const testIds = tests.map(({ testId }) => testId);
      await this.#lookAfter(repositoryId, (repository) =>
        this.#kept.use(repository, (kept) => expireTests(this.#store, kept, { testIds, at: now })),
      );
    }
    return due.some(({ repositoryId }) => !this.#sickUntil.has(repositoryId));
  }

  /** Opens what is stored, and carries out what was changed in the settings. */
  #bringUpToDate(repository: Repository): Promise<void> {
    return this.#kept.use(repository, async () => undefined);
  }

  async doIdleWork(): Promise<boolean> {
    const now = this.#clock.now();
    let isBusy = false;
    if (now >= this.#retentionAt) {
      this.#retentionAt = now + RETENTION_EVERY_MS;
      await this.#forgetOld(now);
      isBusy = true;
    }
    for (const kept of this.#kept) {
      if (kept.unmergedBlocks === 0 || now - kept.lastBlockAt < MERGE_IDLE_MS) continue;
      await this.#merge(kept);
    }
    return isBusy;
  }

  async #forgetOld(now: Instant): Promise<void> {
    const store = this.#store;
    const repositories = await store.repositories.listAll();
    // What was stored before this server started, or by one that is gone, waits to be merged too.
    for (const repository of repositories) {
      const { blocks } = await store.testIngest.measureBlocks(repository.id);
      if (this.#kept.find(repository.id)?.unmergedBlocks !== blocks) this.#kept.forget(repository.id);
      if (blocks > 0) await this.#lookAfter(repository.id, () => this.#bringUpToDate(repository));
      await this.tidyMemory();
    }
    const onForgotten = ({ id }: Repository) => this.#kept.forget(id);
    const forgotten = await forgetOldRuns(store, repositories, { now, step: () => this.#step(), onForgotten });
    const removed = await tidyUploads(store, repositories, { now, limits: this.#options });
    if (forgotten + removed > 0) this.#log.info({ forgotten, removed }, 'removed old test results and uploads');
  }
}
