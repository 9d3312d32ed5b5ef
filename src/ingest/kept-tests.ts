/**
 * The tests of one repository in memory, as of one sequence number.
 *
 * Passing runs change only counts, which are not stored at once. After a crash, or when another writer committed first,
 * the counts are restored from the runs that the stored state does not include. For such a test these are only passing
 * runs, and runs that are evidence for nothing: any other change of a test is stored with it at once.
 */

import type { Monitor } from '../flaky/core/monitor.ts';
import { onlyPathOf } from '../flaky/core/paths.ts';
import type { TestState } from '../flaky/core/state.ts';
import { countRuns } from '../flaky/daily-counts.ts';
import { observe, scopeOf } from '../flaky/observe.ts';
import type { QuarantineSettings } from '../flaky/quarantine.ts';
import { recordTest } from '../flaky/test-record.ts';
import type { Instant } from '../lib/clock.ts';
import type { Repository } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { decodeState, encodeState, eventRowOf, nextCheckOf, overrideOf, uploadFactsOf } from '../storage/test-codec.ts';
import type {
  CountedRuns,
  KnownTest,
  LoadedTests,
  StoredBatch,
  StoredRun,
  TestChange,
  TestMemory,
  UncountedBatch,
} from '../storage/test-ingest.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';

/** Another writer committed first: the repository's tests in memory must be read again. */
export class Stale extends Error {
  override readonly name = 'Stale';
}

/** Ids per query. */
const LOAD_AT_ONCE = 5_000;
/** A test may have some hundred thousand runs in a year. */
const READ_AT_ONCE = 8;
/** So many runs take about as much memory as one test. */
const RUNS_PER_TEST = 10;
/** Tests whose memories are stored in one transaction. */
const SLICE_TESTS = 512;

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

  /** Reads the stored runs of tests, a few tests at a time. */
  async *readRuns(
    of: { readonly testNos: readonly number[]; readonly since: Instant },
    step: () => Promise<void>,
  ): AsyncGenerator<{ readonly testNos: readonly number[]; readonly batches: readonly StoredBatch[] }> {
    for (let from = 0; from < of.testNos.length; from += READ_AT_ONCE) {
      await step();
      const testNos = of.testNos.slice(from, from + READ_AT_ONCE);
      yield { testNos, batches: await this.#store.testIngest.readRuns(this.repository.id, testNos, of.since) };
    }
  }

  /** Stores a change that comes without runs. */
  async commit(change: Pick<TestChange, 'tests' | 'memories' | 'events'>, at: Instant): Promise<void> {
    const guard = { repositoryId: this.repository.id, expectedSeq: this.seq };
    const seq = await this.#store.testIngest.commit({ ...guard, ...change, failures: [] }, at);
    if (seq === undefined) throw new Stale();
    this.seq = seq;
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

/**
 * A test in memory, changed in place. If a change cannot be stored, all tests of the repository are dropped and read
 * again.
 */
export interface KeptTest {
  row: TestRow;
  state: TestState;
  settingsVersion: number;
  lastRunAt: Instant | null;
  /** The store has an older state, and after a crash the missing counts come from the runs. */
  isDirty: boolean;
  /** The number of the stored memory, and the runs that the stored figures lack; null: none. */
  storedSeq: number;
  uncounted: (CountedRuns & { readonly days: number[] }) | null;
}

function keepKnown({ test, memory }: KnownTest): KeptTest {
  return {
    row: test,
    state: decodeState(memory.state),
    settingsVersion: memory.settingsVersion,
    lastRunAt: memory.lastRunAt,
    isDirty: false,
    storedSeq: memory.seq,
    uncounted: null,
  };
}

/** The memory to store. It takes the uncounted runs along, so a memory that is not stored means a test to read again. */
// SPEC F62
export function takeMemory(test: KeptTest, seq: number): TestMemory {
  const { row, state, settingsVersion, lastRunAt, storedSeq: afterSeq, uncounted } = test;
  const nextCheckAt = nextCheckOf(row, state);
  test.uncounted = null;
  test.storedSeq = seq;
  const memory = { testNo: row.no, seq, state: encodeState(state), nextCheckAt, settingsVersion, lastRunAt };
  return uncounted === null ? memory : { ...memory, counted: { ...uncounted, afterSeq } };
}

type CountableRun = Pick<StoredRun, 'conclusion' | 'startedAt' | 'durationMs'>;

/** Counts runs of an upload that arrived at `at`. */
export function countUncounted(test: KeptTest, runs: readonly CountableRun[], at: Instant): void {
  const days = countRuns(runs, at, test.uncounted?.days);
  if (days.length === 0) return;
  let lastFailureAt = test.uncounted?.lastFailureAt ?? null;
  for (const { conclusion, startedAt } of runs) {
    if (conclusion === 'FAILURE') lastFailureAt = Math.max(lastFailureAt ?? 0, Math.min(startedAt, at));
  }
  test.uncounted = { days, lastFailureAt };
}

interface Acting {
  readonly settings: QuarantineSettings;
  readonly at: Instant;
  readonly actor: string | null;
}

/** Updates the row from the state and adds events. Returns true if the row changed. */
export function showState(test: KeptTest, events: TestEventRow[], { settings, at, actor }: Acting): boolean {
  const { row, state } = test;
  const override = overrideOf(row);
  const { record, event } = recordTest(state, { override, settings, quarantinedAt: row.quarantinedAt, at, actor });
  if (event !== undefined) events.push(eventRowOf(row.id, event));
  const isSame =
    row.status === record.status &&
    row.statusReason === record.statusReason &&
    row.statusAt === record.statusAt &&
    row.quarantinedAt === record.quarantinedAt &&
    row.isFlagged === record.isFlagged &&
    isSameList(row.labels, record.labels);
  if (!isSame) test.row = { ...row, ...record };
  return !isSame;
}

export function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, index) => text === other[index]));
}

/** More uncounted batches take longer to count again after a crash; fewer would rewrite the same memories more often. */
const MAX_BATCHES = 64;
const MAX_RUNS = 300_000;

export function hasManyUncounted({ uncountedBatches, uncountedRuns }: KeptTests): boolean {
  return uncountedBatches >= MAX_BATCHES || uncountedRuns >= MAX_RUNS;
}

/**
 * Stores the memories of tests that only passed. Each slice is one short transaction, so an interruption keeps the slices
 * that were finished.
 */
// SPEC U35
export async function storeMemories(
  store: Store,
  { kept, settings }: { readonly kept: KeptTests; readonly settings: StoredTestSettings },
  step: () => Promise<void>,
): Promise<void> {
  const { seq: upToSeq } = kept;
  const repositoryId = kept.repository.id;
  for (const slice of [...kept.touched].sort((one, other) => one - other)) {
    await step();
    // Tests follow the applied settings, even if newer ones are stored.
    await kept.loadUncounted(slice, settings.appliedMonitors);
    const dirty = dirtyTests(kept, slice * SLICE_TESTS);
    const memories = dirty.map((test): TestMemory => takeMemory(test, upToSeq));
    const isStored = await store.testIngest.storeMemories({ repositoryId, expectedSeq: upToSeq, memories });
    if (!isStored) throw new Stale();
    for (const test of dirty) test.isDirty = false;
  }
  await store.testIngest.markCounted(repositoryId, upToSeq);
  kept.noteCounted();
}

function dirtyTests({ byNo }: KeptTests, fromNo: number): readonly KeptTest[] {
  return byNo
    .slice(fromNo, fromNo + SLICE_TESTS)
    .filter((test) => test !== undefined)
    .filter(({ isDirty }) => isDirty);
}
