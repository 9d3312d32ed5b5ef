import { DAY_MS } from '../flaky/core/detector.ts';
import { expire } from '../flaky/evaluate.ts';
import { takeBack } from '../flaky/take-back.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import { Fault } from '../lib/fault.ts';
import type { Log } from '../lib/log.ts';
import type { Repository, RepositoryId } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { eventRowOf, quarantineSettingsOf, readTestSettings, uploadFactsOf } from '../storage/test-codec.ts';
import type { StoredBatch, TestMemory } from '../storage/test-ingest.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';
import type { Upload, UploadIgnored } from '../storage/uploads.ts';
import type { Kept, KeptRepositories } from './kept-repositories.ts';
import { hasManyUncounted, type KeptTest, type KeptTests, showState, takeMemory } from './kept-tests.ts';
import { Interrupted } from './upload-turns.ts';

export interface KeepLimits {
  /** How long the bodies of uploads are kept for reprocessing. */
  readonly uploadKeepDays: number;
  readonly uploadKeepBytes: number;
}

export interface RetentionSchedule {
  readonly retentionAt: Instant;
  /** Called with the time of the next retention: a process may end before. */
  readonly onRetained: (nextAt: Instant) => void;
}

export interface UpkeepDeps {
  readonly store: Store;
  readonly clock: Timing;
  readonly log: Log;
  readonly kept: KeptRepositories;
  readonly options: KeepLimits & RetentionSchedule & { readonly maxTests: number };
  /** Work on the repository is paused: its tests in memory must not be touched. */
  isPaused(repositoryId: RepositoryId): boolean;
  /** Starts work on a repository that may be interrupted and end later. */
  begin(repository: Repository, work: () => Promise<void>): Promise<void>;
  /** Throws if the work must be abandoned. */
  step(): Promise<void>;
}

const IDLE_MS = 60_000;
const RETENTION_EVERY_MS = 3_600_000;
/** Rows per transaction. */
const FORGET_AT_ONCE = 2_000;
/** Due tests per transaction. */
const DUE_AT_ONCE = 256;
/** Tests of a withdrawn upload per transaction. */
const RECOUNT_AT_ONCE = 256;
/** Tests per transaction whose figures lose a day. */
const ROLL_AT_ONCE = 500;
const ROLL_SLICES = 20;
const SICK_MS = 60_000;
/** Damage in one repository must not delay the others. A store that was unavailable is back soon. */
const STORE_AWAY_MS = 5_000;

/** The work between uploads: due statuses, changed settings, uncounted runs, withdrawn uploads, retention. */
export class Upkeep {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #kept: KeptRepositories;
  readonly #options: UpkeepDeps['options'];
  readonly #isPaused: UpkeepDeps['isPaused'];
  readonly #begin: UpkeepDeps['begin'];
  readonly #step: () => Promise<void>;
  readonly #sickUntil = new Map<RepositoryId, Instant>();
  #retentionAt: Instant;

  constructor({ store, clock, log, kept, options, isPaused, begin, step }: UpkeepDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#kept = kept;
    this.#options = options;
    this.#isPaused = isPaused;
    this.#begin = begin;
    this.#step = step;
    this.#retentionAt = options.retentionAt;
  }

  /** Between parts of an upload: handles its own repository only, so that the upload may pause meanwhile. */
  tidyMemoryOf(repository: Repository): Promise<void> {
    return this.#lookSafely(repository, async ({ id }) => {
      const kept = this.#kept.find(id);
      const isTooMuch = weightOf([...this.#kept]) > this.#options.maxTests;
      if (kept === undefined) return;
      // Store memories first: otherwise the next load would recount everything from the runs.
      if (hasManyUncounted(kept) || (isTooMuch && kept.uncountedBatches > 0))
        await this.#kept.storeMemories(repository);
      if (isTooMuch) this.#kept.forget(id);
    });
  }

  /**
   * After every upload. The least recently used repositories are dropped first. Paused ones stay; their number is
   * bounded.
   */
  async tidyMemory(): Promise<void> {
    const free = [...this.#kept].filter(({ repository }) => !this.#isPaused(repository.id));
    for (const kept of free) if (hasManyUncounted(kept)) await this.#storeMemories(kept);
    let weight = weightOf(free);
    for (const kept of free.sort((one, other) => one.lastUsedAt - other.lastUsedAt)) {
      if (weight <= this.#options.maxTests) return;
      weight -= kept.weight;
      await this.#lookAfter(kept.repository.id, async (repository) => {
        if (kept.uncountedBatches > 0) await this.#kept.storeMemories(repository);
        this.#kept.forget(repository.id);
      });
    }
  }

  #storeMemories({ repository }: KeptTests): Promise<void> {
    return this.#lookAfter(repository.id, () => this.#kept.storeMemories(repository));
  }

  async #lookAfter(repositoryId: RepositoryId, act: (repository: Repository) => Promise<void>): Promise<void> {
    if (this.#isPaused(repositoryId)) return;
    const repository = await this.#kept.findRepository(repositoryId);
    if (repository !== undefined) await this.#begin(repository, () => this.#lookSafely(repository, act));
  }

  /** An error in one repository must not delay the others. */
  async #lookSafely(repository: Repository, act: (repository: Repository) => Promise<void>): Promise<void> {
    const now = this.#clock.now();
    if ((this.#sickUntil.get(repository.id) ?? 0) > now) return;
    try {
      await act(repository);
      this.#sickUntil.delete(repository.id);
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      this.#sickUntil.set(repository.id, now + (error instanceof Fault ? STORE_AWAY_MS : SICK_MS));
      if (error instanceof Fault) throw error;
      this.#log.error({ err: error, repository: repository.id }, 'repository upkeep failed');
    }
  }

  /** Applies changes that come without an upload. Returns true if there were any. */
  async doChores(): Promise<boolean> {
    const behind = await this.#store.testSettings.listBehind();
    for (const repositoryId of behind)
      await this.#lookAfter(repositoryId, (repository) => this.#bringUpToDate(repository));
    await this.#recount();
    const now = this.#clock.now();
    const due = await this.#store.testUpkeep.listDue(now, DUE_AT_ONCE);
    for (const [repositoryId, tests] of Map.groupBy(due, (test) => test.repositoryId)) {
      const testIds = tests.map(({ testId }) => testId);
      await this.#lookAfter(repositoryId, (repository) =>
        this.#kept.use(repository, (kept) => expireTests(kept, { testIds, at: now })),
      );
    }
    if (await this.#rollFigures(now)) return true;
    return due.some(({ repositoryId }) => !this.#sickUntil.has(repositoryId) && !this.#isPaused(repositoryId));
  }

  /** After midnight, UTC, nearly all tests lose a day: uploads take turns with them. True if there may be more. */
  async #rollFigures(now: Instant): Promise<boolean> {
    for (let slice = 0; slice < ROLL_SLICES; slice += 1) {
      await this.#step();
      if ((await this.#store.testUpkeep.rollFigures(now, ROLL_AT_ONCE)) === 0) return false;
    }
    return true;
  }

  async #recount(): Promise<void> {
    for (const upload of await this.#store.uploadWork.listToRecount()) {
      await this.#lookAfter(upload.repositoryId, (repository) => this.#recountUpload(repository, upload));
    }
  }

  /** Recounts the tests of a withdrawn upload from the remaining runs. */
  async #recountUpload(repository: Repository, upload: Upload): Promise<void> {
    const { ignored, repositoryId } = upload;
    if (ignored === null) return;
    const all = await this.#store.testIngest.listTestNos(repositoryId, upload.id);
    for (let from = 0; from < all.length; from += RECOUNT_AT_ONCE) {
      await this.#step();
      const numbers = all.slice(from, from + RECOUNT_AT_ONCE);
      const of = { upload, ignored, numbers, at: this.#clock.now(), step: this.#step };
      await this.#kept.use(repository, (kept) => recountSome(kept, of));
    }
    await this.#store.uploadWork.markRecounted(upload.id);
  }

  /** Loads the repository and applies changed settings. */
  #bringUpToDate(repository: Repository): Promise<void> {
    return this.#kept.use(repository, async () => undefined);
  }

  /** True if what is in memory is stored, too. */
  get isStored(): boolean {
    return [...this.#kept].every(({ uncountedBatches }) => uncountedBatches === 0);
  }

  async doIdleWork(): Promise<boolean> {
    const now = this.#clock.now();
    let isBusy = false;
    if (now >= this.#retentionAt) {
      this.#retentionAt = now + RETENTION_EVERY_MS;
      await this.#forgetOld(now);
      this.#options.onRetained(this.#retentionAt);
      isBusy = true;
    }
    for (const kept of this.#kept) {
      if (kept.uncountedBatches === 0 || now - kept.lastBatchAt < IDLE_MS) continue;
      await this.#storeMemories(kept);
    }
    return isBusy;
  }

  async #forgetOld(now: Instant): Promise<void> {
    const store = this.#store;
    const repositories = await store.repositories.listAll();
    // Batches stored before this server's start, or by another server, need counting too.
    for (const repository of repositories) {
      const { batches } = await store.testIngest.measureUncounted(repository.id);
      if (this.#kept.find(repository.id)?.uncountedBatches !== batches) this.#kept.forget(repository.id);
      if (batches > 0) await this.#lookSafely(repository, () => this.#bringUpToDate(repository));
      for (const kept of this.#kept) await this.tidyMemoryOf(kept.repository);
    }
    const forgotten = await this.#forgetOldRuns(repositories, now);
    const removed = await this.#tidyUploads(repositories, now);
    if (forgotten + removed > 0) this.#log.info({ forgotten, removed }, 'removed old test results and uploads');
  }

  // SPEC U36
  async #forgetOldRuns(repositories: readonly Repository[], now: Instant): Promise<number> {
    const { testUpkeep } = this.#store;
    let forgotten = 0;
    for (const repository of repositories) {
      const { settings } = await readTestSettings(this.#store, repository);
      const before = now - settings.retentionDays * DAY_MS;
      for (let count = -1; count !== 0; forgotten += count) {
        await this.#step();
        count = await testUpkeep.forget(repository.id, before, FORGET_AT_ONCE);
        if (count > 0) this.#kept.forget(repository.id);
      }
    }
    for (let count = -1; count !== 0; forgotten += count) {
      await this.#step();
      count = await testUpkeep.purge(FORGET_AT_ONCE);
    }
    return forgotten;
  }

  /** The repository with the longest retention decides how long uploads are listed. */
  // SPEC U36
  async #tidyUploads(repositories: readonly Repository[], now: Instant): Promise<number> {
    const { uploadKeepDays, uploadKeepBytes: maxBytes } = this.#options;
    const all = await Promise.all(repositories.map((repository) => readTestSettings(this.#store, repository)));
    const days = Math.max(uploadKeepDays, ...all.map(({ settings }) => settings.retentionDays));
    const bodiesBefore = now - uploadKeepDays * DAY_MS;
    return this.#store.uploadWork.tidy({ now, bodiesBefore, maxBytes, uploadsBefore: now - days * DAY_MS });
  }
}

/** Memory use, in tests. */
function weightOf(all: readonly KeptTests[]): number {
  return all.reduce((sum, { weight }) => sum + weight, 0);
}

/** Keeps a test that stays due from being evaluated in an endless loop. */
const LOOK_AGAIN_MS = 60_000;

/** Evaluates tests that are due without a new run: a monitor recovers, a mute or an override ends. */
// SPEC F33
async function expireTests(
  { kept, settings }: { readonly kept: KeptTests; readonly settings: StoredTestSettings },
  { testIds, at }: { readonly testIds: readonly string[]; readonly at: Instant },
): Promise<void> {
  await kept.load(testIds, settings.monitors);
  const tests: TestRow[] = [];
  const memories: TestMemory[] = [];
  const events: TestEventRow[] = [];
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: null };
  for (const id of testIds) {
    const test = kept.byId.get(id);
    if (test === undefined) continue;
    const expired = expire(test.state, settings.monitors, at);
    test.state = expired.state;
    for (const event of expired.events) events.push(eventRowOf(id, event));
    const hasEnded = endOverride(test, events, at);
    if (showState(test, events, acting) || hasEnded) tests.push(test.row);
    memories.push(notDueNow(takeMemory(test, kept.seq + 1), at));
    test.isDirty = false;
  }
  await kept.commit({ tests, memories, events }, at);
}

function endOverride(test: KeptTest, events: TestEventRow[], at: Instant): boolean {
  const { row } = test;
  const end = row.override?.expiresAt ?? null;
  if (end === null || end > at) return false;
  const setting = row.quarantineOverride;
  test.row = { ...row, quarantineOverride: 'UNSPECIFIED', override: null };
  events.push(eventRowOf(row.id, { kind: 'override_expired', at, actor: null, ...{ setting } }));
  return true;
}

function notDueNow(memory: TestMemory, at: Instant): TestMemory {
  const isDue = memory.nextCheckAt !== null && memory.nextCheckAt <= at;
  return isDue ? { ...memory, nextCheckAt: at + LOOK_AGAIN_MS } : memory;
}

interface Recount {
  readonly upload: Upload;
  readonly ignored: UploadIgnored;
  readonly numbers: readonly number[];
  readonly at: Instant;
  readonly step: () => Promise<void>;
}

async function recountSome({ kept, settings }: Kept, of: Recount): Promise<void> {
  const { numbers, at } = of;
  const since = at - settings.settings.retentionDays * DAY_MS;
  await kept.loadNumbers(numbers, settings.monitors);
  const events: TestEventRow[] = [];
  const tests: TestRow[] = [];
  const memories: TestMemory[] = [];
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: of.ignored.actor };
  const testNos = numbers.filter((no) => kept.byNo[no] !== undefined);
  for await (const read of kept.readRuns({ testNos, since }, of.step)) {
    for (const test of read.testNos.flatMap((no) => kept.byNo[no] ?? [])) {
      const past = ofTest(test, read.batches, { ...of, kept });
      const { state, events: happened } = takeBack(test.state, settings.monitors, { ...past, at });
      test.state = state;
      for (const event of happened) events.push(eventRowOf(test.row.id, event));
      if (showState(test, events, acting)) tests.push(test.row);
      memories.push(takeMemory(test, kept.seq + 1));
      test.isDirty = false;
    }
  }
  await kept.commit({ tests, memories, events }, at);
}

function ofTest(
  { row }: KeptTest,
  batches: readonly StoredBatch[],
  { upload, ignored, kept }: Recount & { readonly kept: KeptTests },
) {
  const own = batches.flatMap(({ facts, receivedAt, runs }) => {
    const some = runs.filter(({ testNo }) => testNo === row.no);
    const observed = some.map((run) => ({ ...run, attempt: null, rerunOf: null }));
    return some.length === 0 ? [] : [{ upload: uploadFactsOf(facts, kept), at: receivedAt, runs: observed }];
  });
  const [taken] = own.filter((batch) => batch.upload.id === upload.id);
  const hasFailed = taken?.runs.some(({ conclusion }) => conclusion === 'FAILURE') ?? false;
  const { actor, reason } = ignored;
  const countedAt = taken?.at ?? upload.receivedAt;
  return { past: own, taken: { uploadId: upload.id, countedAt, actor, reason, hasFailed } };
}
