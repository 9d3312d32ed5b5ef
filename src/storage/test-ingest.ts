/**
 * How test results get in. Passing runs are nearly everything, and what monitors remember of tests that did nothing but
 * pass is stored later, slice by slice: until then the runs are what that memory is counted from again after a crash.
 *
 * Every write names the sequence number it began with, and is refused where another writer was faster: whoever keeps
 * tests in memory reads them again then.
 */
import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';
import type { RunConclusion, TestEventRow, TestRow } from './tests.ts';
import type { UploadIgnored, UploadOutcome } from './uploads.ts';

/** Slices of a merge begin and end at multiples of this: that many tests share a chunk. */
export const TESTS_PER_BUCKET = 16;

/** What monitors remember of a test; `state` is JSON whose shape is theirs. */
export interface TestMemory {
  readonly testNo: number;
  /** Runs stored up to this sequence number are counted in it. */
  readonly seq: number;
  readonly state: string;
  /** Something may change then although nothing arrives; null: never. */
  readonly nextCheckAt: Instant | null;
  /** The version of the repository's settings that it follows. */
  readonly settingsVersion: number;
  readonly lastRunAt: Instant | null;
}

export interface KnownTest {
  readonly test: TestRow;
  readonly memory: TestMemory;
}

/** What the runs of one batch have in common: an upload, or a part of a very large one. */
export interface BatchFacts {
  readonly uploadId: string;
  readonly branch: string;
  readonly sha: string;
  /** Compared by pass on retry: job, check and platform in one text; empty where nobody said. */
  readonly job: string;
  readonly jobAttempt: number | null;
  readonly jobName: string;
  readonly jobUrl: string | null;
  readonly prNumber: number | null;
  /** Why it is evidence for nothing; null: it is. */
  readonly flaw: EvidenceFlaw | null;
  readonly isProven: boolean;
}

export interface StoredRun {
  readonly testNo: number;
  readonly startedAt: Instant;
  readonly conclusion: RunConclusion;
  readonly durationMs: number | null;
  /** It was quarantined then. */
  readonly isQuarantined: boolean;
}

export interface StoredFailure {
  readonly testId: string;
  readonly testNo: number;
  readonly startedAt: Instant;
  /** The failure blocked somebody: the test was unhealthy then, and not quarantined. */
  readonly isBlocking: boolean;
  readonly isQuarantined: boolean;
  /** Which of the test's ways to fail this was, and a line that says so. */
  readonly group: string;
  readonly summary: string;
  /** Cleaned and cut. */
  readonly text: string;
  /** The suites around it below the outermost one; null: not told. */
  readonly path: string | null;
}

export interface FailingTest {
  readonly testNo: number;
  readonly testId: string;
  /** Those of its suite paths that failed; absent, or null among them: not told. */
  readonly paths?: readonly (string | null)[];
}

/** The results of one check of one candidate, from all uploads tied to it. */
export interface CheckResults {
  readonly candidateId: string;
  readonly check: string;
  /** Every report was read whole, and the counts it declares agree. */
  readonly isWhole: boolean;
  /** What is not whole, as a sentence. */
  readonly problem: string | null;
  readonly uploadIds: readonly string[];
  /** Uploads whose origin is not proven: only what failed in them counts, and they are not among `uploadIds`. */
  readonly unprovenIds?: readonly string[];
  /** Every test that ran or was skipped, ascending. */
  readonly testNos: readonly number[];
  /** Those of them that did not run, ascending; absent: all ran. */
  readonly skippedNos?: readonly number[];
  /** Those that failed, and did not pass at a later try of the same case. */
  readonly failing: readonly FailingTest[];
  readonly at: Instant;
}

/** What one processed upload, or one person's act, changes. Stored whole under the next ingest sequence number. */
export interface TestChange {
  readonly repositoryId: RepositoryId;
  /** What the writer knows: where the repository has another number by now, nothing is written. */
  readonly expectedSeq: number;
  /**
   * Inserted, or replaced by id. A new one has the next number of the repository (`LoadedTests.nextTestNo`), and a memory
   * in the same change.
   */
  readonly tests: readonly TestRow[];
  readonly memories: readonly TestMemory[];
  readonly batch?: { readonly facts: BatchFacts; readonly runs: readonly StoredRun[] };
  readonly failures: readonly StoredFailure[];
  readonly events: readonly TestEventRow[];
  /** Ends the upload, or notes how far it got, in the same transaction. */
  readonly upload?: UploadOutcome;
  /** Merged with what is there for the candidate and check. */
  readonly checkResults?: CheckResults;
  /** An ended upload is evidence no more, and its tests are to be counted again. Again: no change. */
  readonly ignore?: { readonly uploadId: string } & UploadIgnored;
}

export interface LoadedTests {
  readonly seq: number;
  readonly nextTestNo: number;
  readonly known: readonly KnownTest[];
}

/** Runs not merged yet, of one batch. */
export interface RunBlock {
  readonly seq: number;
  readonly facts: BatchFacts;
  readonly receivedAt: Instant;
  /** By number of the test, and in their order. */
  readonly runs: readonly StoredRun[];
}

/** Some runs of one batch. */
export interface StoredBatch {
  readonly facts: BatchFacts;
  readonly receivedAt: Instant;
  readonly runs: readonly StoredRun[];
}

export interface MergeSlice {
  readonly repositoryId: RepositoryId;
  readonly expectedSeq: number;
  /** Blocks up to this one. */
  readonly upToSeq: number;
  /** Tests of these numbers, from inclusive, to exclusive; multiples of TESTS_PER_BUCKET. */
  readonly fromNo: number;
  readonly toNo: number;
  /** Of the tests of the slice: everything in memory that the store does not have. */
  readonly memories: readonly TestMemory[];
}

/** What another upload of the same commit and job said. */
export interface EarlierBatch {
  readonly seq: number;
  readonly facts: BatchFacts;
  /** The latest start of a failing run there, by number of the test and suite path. */
  readonly failures: readonly { readonly testNo: number; readonly at: Instant; readonly path: string | null }[];
}

export interface TestIngest {
  /** The tests of these ids that there are, and the numbers to go on with, all of one moment. */
  load(repositoryId: RepositoryId, testIds: readonly string[]): Promise<LoadedTests>;
  /** The same by number. */
  loadRange(repositoryId: RepositoryId, fromNo: number, toNo: number): Promise<LoadedTests>;
  /**
   * Answers the change's sequence number; undefined where another writer was faster, and nothing is written: the number
   * is another, a stored memory counts more runs than the one given, or the upload is not waiting any more.
   */
  commit(change: TestChange, at: Instant): Promise<number | undefined>;
  /** How many tests the repository has. Takes long where they are millions. */
  countTests(repositoryId: RepositoryId): Promise<number>;
  /** Other batches of this commit and job that are evidence. */
  findEarlier(
    repositoryId: RepositoryId,
    of: { readonly sha: string; readonly job: string; readonly exceptUploadId: string },
  ): Promise<readonly EarlierBatch[]>;
  /** Of these tests, those that passed in a batch: its latest passing start by number. */
  findPasses(
    repositoryId: RepositoryId,
    seq: number,
    testNos: readonly number[],
  ): Promise<ReadonlyMap<number, Instant>>;
  /** All blocks that are not merged for every test, in order. */
  listBlocks(repositoryId: RepositoryId): Promise<readonly RunBlock[]>;
  /** How much waits to be merged. */
  measureBlocks(
    repositoryId: RepositoryId,
  ): Promise<{ readonly blocks: number; readonly runs: number; readonly upToSeq: number }>;
  /** Takes no number. False where another writer was faster, and nothing is written. */
  merge(slice: MergeSlice): Promise<boolean>;
  /** When every slice up to this number is merged. */
  dropBlocks(repositoryId: RepositoryId, upToSeq: number): Promise<void>;
  /** Tests at which something is due, of one repository, the longest due first. */
  listDue(
    now: Instant,
    limit: number,
  ): Promise<readonly { readonly repositoryId: RepositoryId; readonly testId: string }[]>;
  /** Tests that do not follow this version of the settings yet: the next ones by number. */
  listBehind(repositoryId: RepositoryId, settingsVersion: number, limit: number): Promise<readonly string[]>;
  findCheckResults(repositoryId: RepositoryId, candidateId: string, check: string): Promise<CheckResults | undefined>;
  /**
   * The runs of these tests that started at `since` or later, with the facts of their batches: to count them again.
   * Batches in their order; runs by number of the test, then by start.
   */
  readRuns(repositoryId: RepositoryId, testNos: readonly number[], since: Instant): Promise<readonly StoredBatch[]>;
  /** Numbers of the tests that have runs in the upload, ascending. */
  listTestNos(repositoryId: RepositoryId, uploadId: string): Promise<readonly number[]>;
  /**
   * Forgets runs, failures, events and batches from before; and tests that last ran before it and that nobody gave an
   * override, a flag or a ticket, which takes a number. Not one transaction: call it until it answers 0.
   */
  forget(repositoryId: RepositoryId, before: Instant, limit: number): Promise<number>;
}
