import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Issue } from '../flaky/identity/issue.ts';
import { type PlaceQuestion, UNKNOWN_PLACE, type UploadPlace } from '../flaky/upload-place.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import { Fault } from '../lib/fault.ts';
import type { Log } from '../lib/log.ts';
import { PeriodicTask } from '../lib/periodic.ts';
import type { Repository, RepositoryId } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import type { CheckResults } from '../storage/test-ingest.ts';
import type { Upload } from '../storage/uploads.ts';
import { KeptRepositories } from './kept-repositories.ts';
import { Stale } from './kept-tests.ts';
import { type Crashes, FIRST_RETENTION_MS } from './process-messages.ts';
import { endUpload, outcomeOf, processUpload } from './process-upload.ts';
import { type ReadSources, readUpload } from './read/read-upload.ts';
import { createTestNameCache } from './read/test-name-cache.ts';
import { ReadAhead } from './read-ahead.ts';
import { Superseded } from './store-part.ts';
import { type KeepLimits, type RetentionSchedule, Upkeep } from './upkeep.ts';
import { PART_LIMITS, type PartLimits, type Processed, type ProcessingDeps, type TestLimits } from './upload-parts.ts';
import { Interrupted, UploadTurns, type UploadTurnsOptions } from './upload-turns.ts';

/**
 * Processes uploads in turns, those of a repository in order of acceptance. Between them it does due work: statuses
 * that end by themselves, changed settings, uncounted runs, retention. It stores everything in complete steps, so the process
 * can die at any instant.
 */

export interface IngestOptions extends KeepLimits, TestLimits, UploadTurnsOptions, RetentionSchedule {
  readonly testBranchPrefix: string;
  readonly limits: PartLimits;
  /** New tests per transaction. */
  readonly newTestsAtOnce: number;
  /** Tests in memory. */
  readonly maxTests: number;
  readonly crashes: Crashes;
  /** Called at every step of the work, and of the search for work. */
  readonly onStep: () => void;
  /** Called when there has been no work for a while, and again later. */
  readonly onIdle: () => void;
  /** Finds out where the tests of an upload ran. */
  readonly findPlace: (question: PlaceQuestion) => Promise<UploadPlace>;
}

export interface StoredCheck {
  readonly repositoryId: string;
  readonly candidateId: string;
  readonly check: string;
}

export interface IngestLoop {
  start(): void;
  /** Stops after the current commit; a large upload continues later, behind its last stored part. */
  stop(): Promise<void>;
  wake(): void;
  withWritesPaused<T>(action: () => Promise<T>): Promise<T>;
  onCheckResults(listener: (result: StoredCheck) => void): () => void;
  /** For callers without a process of its own: works until nothing is left to do. */
  runUntilIdle(): Promise<void>;
}

const DEFAULTS: Omit<IngestOptions, 'retentionAt'> = {
  holder: 'ingest',
  testBranchPrefix: 'sluice',
  limits: PART_LIMITS,
  newTestsAtOnce: 150,
  // About 2 KiB each.
  maxTests: 60_000,
  maxRepositoryTests: 2_000_000,
  turnMs: 200,
  maxNewTests: 250_000,
  crashes: new Map(),
  findPlace: async () => UNKNOWN_PLACE,
  onWorkingOn: () => undefined,
  onStep: () => undefined,
  onIdle: () => undefined,
  onRetained: () => undefined,
  uploadKeepDays: 7,
  uploadKeepBytes: 2 * 1024 ** 3,
};

/** The pause after a round without work, and the longest one: each further round without work doubles it. */
const POLL_MS = 1_000;
const MAX_POLL_MS = 8_000;
/** A process that starts anew reads the tests of its repositories again. */
const IDLE_MS = 15_000;
/** After so many crashes an upload is given up, so that a bug of ours cannot block the others for ever. */
const MAX_CRASHES = 3;
/** A short cap, so that a store that is back is noticed soon. */
const DELAY = { firstMs: 500, capMs: 10_000 };

export function createIngestLoop(
  store: Store,
  clock: Timing,
  log: Log,
  options: Partial<IngestOptions> = {},
): IngestLoop {
  return new Loop(store, clock, log, { ...DEFAULTS, retentionAt: clock.now() + FIRST_RETENTION_MS, ...options });
}

class Loop implements IngestLoop {
  readonly #store: Store;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #options: IngestOptions;
  readonly #kept: KeptRepositories;
  readonly #upkeep: Upkeep;
  readonly #testNames = createTestNameCache();
  readonly #ahead = new ReadAhead();
  readonly #yieldToEventLoop = createYielder();
  readonly #listeners = new Set<(result: StoredCheck) => void>();
  readonly #crashes: Map<string, { readonly count: number; readonly reason: string }>;
  readonly #turns: UploadTurns;
  readonly #rounds: PeriodicTask;
  #isStopped = false;
  #stills = 0;
  #work: Promise<void> = Promise.resolve();
  #pauseMs = 0;
  #troubles = 0;
  #choresAt = 0;
  #busyAt: Instant;

  constructor(store: Store, clock: Timing, log: Log, options: IngestOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#options = options;
    this.#crashes = new Map(options.crashes);
    this.#busyAt = clock.now();
    this.#turns = new UploadTurns(store, clock, options);
    const step = () => this.#step();
    this.#kept = new KeptRepositories(store, clock, { ...options, step });
    const isPaused = (repositoryId: RepositoryId) => this.#turns.isPaused(repositoryId);
    const begin = ({ id, organizationId }: Repository, work: () => Promise<void>) =>
      this.#turns.look({ repositoryId: id, organizationId }, work);
    this.#upkeep = new Upkeep({ store, clock, log, kept: this.#kept, isPaused, begin, step, options });
    this.#rounds = new PeriodicTask(
      { clock, log },
      {
        firstMs: 0,
        everyMs: () => this.#pauseMs,
        failure: 'ingest round failed, retrying',
        round: () => this.#inLine(() => this.#roundWithPause()),
      },
    );
  }

  start(): void {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#rounds.stop();
    await this.#work;
    await this.#abandonAll();
    try {
      await this.#turns.releaseAll();
    } catch (error) {
      // The leases expire by themselves.
      this.#log.debug({ err: error }, 'could not release upload leases');
    }
  }

  wake(): void {
    this.#rounds.wake();
  }

  withWritesPaused<T>(action: () => Promise<T>): Promise<T> {
    this.#stills += 1;
    return this.#inLine(async () => {
      await this.#abandonAll();
      this.#kept.forgetAll();
      try {
        return await action();
      } finally {
        this.#stills -= 1;
        this.#kept.forgetAll();
      }
    });
  }

  onCheckResults(listener: (result: StoredCheck) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  runUntilIdle(): Promise<void> {
    return this.#inLine(async () => {
      for (let isBusy = true; isBusy; ) {
        this.#choresAt = 0;
        isBusy = await this.#round();
      }
    });
  }

  /** Rounds and `withWritesPaused` actions run one after another. */
  #inLine<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#work.then(act);
    this.#work = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async #abandonAll(): Promise<void> {
    await this.#ahead.drop();
    await this.#turns.abandonAll();
  }

  async #roundWithPause(): Promise<void> {
    try {
      const isBusy = await this.#round();
      this.#pauseMs = isBusy ? 0 : Math.min(MAX_POLL_MS, Math.max(POLL_MS, 2 * this.#pauseMs));
      this.#troubles = 0;
      const now = this.#clock.now();
      if (isBusy || !this.#upkeep.isStored) this.#busyAt = now;
      else if (now - this.#busyAt >= IDLE_MS) this.#options.onIdle();
    } catch (error) {
      this.#kept.forgetAll();
      this.#pauseMs = 0;
      if (error instanceof Interrupted) return;
      this.#pauseMs = backoffMs(this.#troubles, { ...DELAY, spread: Math.random() });
      this.#troubles += 1;
      throw error;
    }
  }

  /** Returns true if there may be more work at once. */
  async #round(): Promise<boolean> {
    await this.#step();
    const now = this.#clock.now();
    let isBusy = false;
    if (now >= this.#choresAt) {
      this.#choresAt = now + POLL_MS;
      isBusy = await this.#upkeep.doChores();
    }
    if (await this.#turns.take((upload) => this.#process(upload))) {
      await this.#upkeep.tidyMemory();
      return true;
    }
    return (await this.#upkeep.doIdleWork()) || isBusy;
  }

  /** Throws if the current work must be abandoned. */
  async #step(): Promise<void> {
    this.#options.onStep();
    await this.#yieldToEventLoop();
    this.#assertGoesOn();
    await this.#turns.yieldTurn();
    this.#assertGoesOn();
  }

  #assertGoesOn(): void {
    if (this.#isStopped || this.#stills > 0) throw new Interrupted();
  }

  async #stepOn(repositoryId: RepositoryId): Promise<void> {
    await this.#step();
    await this.#turns.holdLease(repositoryId);
  }

  async #process(upload: Upload): Promise<void> {
    const { id, repositoryId } = upload;
    const begunAt = performance.now();
    try {
      const crash = this.#crashes.get(id);
      if (crash !== undefined && crash.count >= MAX_CRASHES) throw new Error(`it ended a process that ${crash.reason}`);
      const repository = await this.#kept.findRepository(repositoryId);
      if (repository === undefined) throw new Error('its repository is gone');
      const { status, testRuns, checkResults } = await this.#processFor(repository, upload);
      this.#crashes.delete(id);
      const ms = Math.round(performance.now() - begunAt);
      this.#log.debug({ upload: id, repository: repositoryId, status, testRuns, ms }, 'upload processed');
      this.#tell(repositoryId, checkResults);
    } catch (error) {
      this.#kept.forget(repositoryId);
      if (error instanceof Interrupted) throw error;
      if (!(error instanceof Superseded)) await this.#leaveForLater(upload, error);
    }
  }

  async #processFor(repository: Repository, upload: Upload): Promise<Processed> {
    const organization = await this.#kept.findOrganization(repository);
    const { testBranchPrefix, limits, newTestsAtOnce, maxNewTests, maxRepositoryTests, findPlace } = this.#options;
    const read = (of: Upload) => {
      const { bodyId } = of;
      const openFile: ReadSources['openFile'] = (fileNo) =>
        bodyId === null ? nothing() : this.#store.uploadBodies.read(bodyId, fileNo);
      return readUpload(of, { organization, repository, openFile, testBranchPrefix, testNames: this.#testNames });
    };
    const ahead = await this.#ahead.take(upload);
    return processUpload(
      {
        store: this.#store,
        clock: this.#clock,
        limits,
        newTestsAtOnce,
        maxNewTests,
        maxRepositoryTests,
        onNewTests: (count) => this.#turns.noteNewTests(count),
        findPlace,
        read,
        onLastPart: () => this.#readNext(upload, read),
        use: (act) => this.#kept.use(repository, act),
        step: () => this.#stepOn(repository.id),
        tidyMemory: () => this.#upkeep.tidyMemoryOf(repository),
      },
      upload,
      ahead,
    );
  }

  /**
   * An embedded store writes in one go, so nothing could be read meanwhile. Behind an upload that is blamed for a crash
   * nothing is read ahead: that reading may be the cause, and then the next crash blames the right one.
   */
  #readNext({ id, repositoryId }: Upload, read: ProcessingDeps['read']): void {
    if (!this.#store.isShared || this.#crashes.has(id)) return;
    this.#ahead.begin(this.#store.uploadWork.findSecond(repositoryId), read);
  }

  /** A fault of the store passes, and the upload waits for it. Any other error is a bug and counts as a crash. */
  // SPEC U34
  async #leaveForLater(upload: Upload, error: unknown): Promise<void> {
    const { id } = upload;
    const mayPass = error instanceof Fault || error instanceof Stale;
    const before = this.#crashes.get(id);
    const crashes = (before?.count ?? 0) + (mayPass ? 0 : 1);
    this.#log[mayPass ? 'warn' : 'error']({ err: error, upload: id }, 'could not process an upload');
    if (crashes >= MAX_CRASHES) {
      this.#crashes.delete(id);
      // Parts may have been stored since the claim.
      const stored = await this.#store.uploads.find(id);
      return stored && this.#giveUp(stored, mistakeOf(before?.reason ?? 'failed'));
    }
    if (!mayPass) this.#crashes.set(id, { count: crashes, reason: before?.reason ?? 'failed' });
    const attempts = mayPass ? upload.attempts : crashes - 1;
    const retryAt = this.#clock.now() + backoffMs(attempts, { ...DELAY, spread: Math.random() });
    const trouble = error instanceof Fault ? error.detail : 'Processing it failed unexpectedly.';
    await this.#store.uploadWork.delay(id, { trouble, retryAt });
  }

  // SPEC U74
  async #giveUp(upload: Upload, mistake: Issue): Promise<void> {
    const { repositoryId, partsDone } = upload;
    const at = this.#clock.now();
    // Parts that are stored stay stored.
    const status = partsDone > 0 ? 'PROCESSED' : 'FAILED';
    const outcome = outcomeOf(upload, { status, processedAt: at, issues: [...upload.issues, mistake] });
    const repository = await this.#kept.findRepository(repositoryId);
    if (repository === undefined) return this.#store.uploadWork.finish(outcome);
    const use: ProcessingDeps['use'] = (act) => this.#kept.use(repository, act);
    const end = { problem: mistake.message, at };
    this.#tell(repositoryId, await endUpload({ store: this.#store, use }, outcome, end));
  }

  #tell(repositoryId: RepositoryId, results: CheckResults | undefined): void {
    if (results === undefined) return;
    const { candidateId, check } = results;
    for (const listener of this.#listeners) listener({ repositoryId, candidateId, check });
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** `reason` is the rest of a sentence about the process. */
function mistakeOf(reason: string): Issue {
  return {
    level: 'error',
    file: null,
    line: null,
    message: `Sluice could not process it, three times over: its ingest process ${reason}. This is a mistake of Sluice, not of the upload.`,
    hint: "The server's log says more. It can be processed again once that is mended.",
  };
}

/**
 * An embedded store answers synchronously: without yielding, no message or timer would ever be handled.
 */
const EVERY_MS = 20;

function createYielder(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < EVERY_MS) return;
    await nextTurn();
    last = performance.now();
  };
}
