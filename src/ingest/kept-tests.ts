/**
 * The tests of one repository in memory, as of one sequence number.
 *
 * Passing runs change only counts, which are not stored at once. After a crash, or when another writer committed first,
 * the counts are restored from the runs that the stored state does not include. For such a test these are only passing
 * runs, and runs that are evidence for nothing: any other change of a test is stored with it at once.
 */
import type { Monitor } from '../flaky/core/monitor.ts';
import { onlyPathOf } from '../flaky/core/paths.ts';
import { observe, scopeOf } from '../flaky/observe.ts';
import type { Instant } from '../lib/clock.ts';
import type { Repository } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import type { KnownTest, LoadedTests, StoredRun, UncountedBatch } from '../storage/test-ingest.ts';
import { Stale } from './interrupts.ts';
import { countUncounted, type KeptTest, keepKnown } from './kept-test.ts';
import { uploadFactsOf } from './upload-facts.ts';

/** Ids per query. */
const LOAD_AT_ONCE = 5_000;
/** So many runs take about as much memory as one test. */
const RUNS_PER_TEST = 10;
/** Tests whose memories are stored in one transaction. */
export const SLICE_TESTS = 512;

interface Opening {
  readonly repository: Repository;
  readonly testBranchPrefix: string;
  readonly at: Instant;
}

interface BatchRuns {
  readonly batch: UncountedBatch;
  readonly runs: StoredRun[];
}

export class KeptTests {
  readonly repository: Repository;
  readonly testBranchPrefix: string;
  readonly byId = new Map<string, KeptTest>();
  readonly byNo: (KeptTest | undefined)[] = [];
  /** Slices that have uncounted runs. */
  readonly touched = new Set<number>();
  seq: number;
  nextTestNo: number;
  uncountedBatches = 0;
  uncountedRuns = 0;
  lastUsedAt: Instant;
  /** Arrival of the latest batch, as far as this server knows. */
  lastBatchAt: Instant;
  readonly #store: Store;
  /** Runs stored by other servers, or by this one before its start, by test number. */
  readonly #uncounted = new Map<number, BatchRuns[]>();
  #indexedRuns = 0;

  private constructor(store: Store, { repository, testBranchPrefix, seq, nextTestNo, at }: Opening & LoadedTests) {
    this.#store = store;
    this.repository = repository;
    this.testBranchPrefix = testBranchPrefix;
    this.seq = seq;
    this.nextTestNo = nextTestNo;
    this.lastUsedAt = at;
    this.lastBatchAt = at;
  }

  static async open(store: Store, opening: Opening): Promise<KeptTests> {
    const { repository } = opening;
    const kept = new KeptTests(store, { ...opening, ...(await store.testIngest.load(repository.id, [])) });
    // Batches are read last, so that none up to this sequence number is missing. Batches that are counted meanwhile are
    // no loss: the stored memories that are loaded later count them. Batches with a later number make this copy outdated.
    const batches = await store.testIngest.listUncounted(repository.id);
    for (const batch of batches) if (batch.seq <= kept.seq) kept.#index(batch);
    return kept;
  }

  /** Loads the tests that exist and are not in memory yet. `monitors` are those the tests follow. */
  async load(
    testIds: Iterable<string>,
    monitors: readonly Monitor[],
    step: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const missing: string[] = [];
    for (const id of testIds) if (!this.byId.has(id)) missing.push(id);
    for (let from = 0; from < missing.length; from += LOAD_AT_ONCE) {
      await step();
      const ids = missing.slice(from, from + LOAD_AT_ONCE);
      this.#keepAll(await this.#store.testIngest.load(this.repository.id, ids), monitors);
    }
  }

  async loadNumbers(testNos: readonly number[], monitors: readonly Monitor[]): Promise<void> {
    for (const no of testNos) {
      if (this.byNo[no] !== undefined) continue;
      const from = Math.floor(no / SLICE_TESTS) * SLICE_TESTS;
      this.#keepAll(await this.#store.testIngest.loadRange(this.repository.id, from, from + SLICE_TESTS), monitors);
    }
  }

  /** Loads the tests of a slice whose stored state lacks runs. */
  async loadUncounted(slice: number, monitors: readonly Monitor[]): Promise<void> {
    const from = slice * SLICE_TESTS;
    const to = from + SLICE_TESTS;
    let isMissing = false;
    for (let no = from; no < to && !isMissing; no += 1)
      isMissing = this.#uncounted.has(no) && this.byNo[no] === undefined;
    if (isMissing) this.#keepAll(await this.#store.testIngest.loadRange(this.repository.id, from, to), monitors);
  }

  /** Memory use, in tests. */
  get weight(): number {
    return this.byId.size + this.#indexedRuns / RUNS_PER_TEST;
  }

  add(test: KeptTest): void {
    this.byId.set(test.row.id, test);
    this.byNo[test.row.no] = test;
  }

  noteBatch(runs: readonly StoredRun[], at: Instant): void {
    if (runs.length === 0) return;
    this.lastBatchAt = at;
    this.uncountedBatches += 1;
    this.uncountedRuns += runs.length;
    let last = -1;
    for (const { testNo } of runs) {
      const slice = Math.floor(testNo / SLICE_TESTS);
      if (slice !== last) this.touched.add(slice);
      last = slice;
    }
  }

  noteCounted(): void {
    this.uncountedBatches = 0;
    this.uncountedRuns = 0;
    this.touched.clear();
    this.#uncounted.clear();
    this.#indexedRuns = 0;
  }

  /** Allowed only if no test is dirty. */
  forgetTests(): void {
    this.byId.clear();
    this.byNo.length = 0;
  }

  #index(batch: UncountedBatch): void {
    this.uncountedBatches += 1;
    this.uncountedRuns += batch.runs.length;
    this.#indexedRuns += batch.runs.length;
    for (const run of batch.runs) {
      this.touched.add(Math.floor(run.testNo / SLICE_TESTS));
      const all = this.#uncounted.get(run.testNo) ?? [];
      const last = all.at(-1);
      if (last?.batch === batch) last.runs.push(run);
      else all.push({ batch, runs: [run] });
      if (all.length === 1) this.#uncounted.set(run.testNo, all);
    }
  }

  #keepAll(loaded: LoadedTests, monitors: readonly Monitor[]): void {
    if (loaded.seq !== this.seq) throw new Stale();
    this.nextTestNo = Math.max(this.nextTestNo, loaded.nextTestNo);
    for (const known of loaded.known) if (!this.byId.has(known.test.id)) this.add(this.#countAgain(known, monitors));
  }

  #countAgain(known: KnownTest, monitors: readonly Monitor[]): KeptTest {
    const test = keepKnown(known);
    for (const { batch, runs } of this.#uncounted.get(test.row.no) ?? []) {
      if (batch.seq <= known.memory.seq) continue;
      const path = onlyPathOf(test.state);
      const observed = runs.map((run) => ({ ...run, attempt: null, rerunOf: null, path }));
      const scope = scopeOf(uploadFactsOf(batch.facts, this), monitors, batch.receivedAt);
      test.state = observe(test.state, observed, scope).state;
      test.lastRunAt = latestStart(runs, test.lastRunAt);
      countUncounted(test, runs, batch.receivedAt);
      test.isDirty = true;
    }
    return test;
  }
}

export function latestStart(runs: readonly { readonly startedAt: number }[], known: number | null): number | null {
  let latest = known;
  for (const { startedAt } of runs) if (latest === null || startedAt > latest) latest = startedAt;
  return latest;
}
