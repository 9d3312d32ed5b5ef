/**
 * The port of ingestion. Nearly all runs pass. The memory of monitors about a test that only passed is stored later,
 * slice by slice; until then, a crash makes it be counted again from the runs.
 *
 * Every write names the sequence number it began with, and is refused if another writer was first. A caller that keeps
 * tests in memory then reads them again.
 */
import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import type { TestedTree } from '../flaky/core/run.ts';
import type { DailyCounts } from '../flaky/daily-counts.ts';
import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';
import type { RunConclusion, TestEventRow, TestRow } from './tests.ts';
import type { UploadIgnored, UploadOutcome } from './uploads.ts';

/** The memory of monitors about a test; `state` is JSON in their format. */
export interface TestMemory {
  readonly testNo: number;
  /** Runs stored up to this sequence number are counted in it. */
  readonly seq: number;
  readonly state: string;
  /** The next instant at which the test may change without a run; null: never. */
  readonly nextCheckAt: Instant | null;
  /** The version of the repository's settings that it follows. */
  readonly settingsVersion: number;
  readonly lastRunAt: Instant | null;
  /** The runs that it counts and the stored one does not. Never read back: the store adds them to the test's figures. */
  readonly counted?: CountedRuns & {
    /** The number of the stored memory. If it has another one, these runs may be counted already: nothing is written. */
    readonly afterSeq: number;
  };
}

export interface CountedRuns {
  readonly days: DailyCounts;
  readonly lastFailureAt: Instant | null;
}

export interface KnownTest {
  readonly test: TestRow;
  readonly memory: TestMemory;
}

/** Facts that the runs of one batch share: an upload, or a part of a very large one. */
export interface BatchFacts {
  readonly uploadId: string;
  readonly branch: string;
  readonly sha: string;
  readonly tree: TestedTree | null;
  /** The candidate that the upload is tied to. */
  readonly candidateId: string | null;
  /** For pass on retry: job, check and platform in one text; empty if unknown. */
  readonly job: string;
  readonly jobAttempt: number | null;
  readonly jobName: string;
  readonly jobUrl: string | null;
  readonly prNumber: number | null;
  /** Why it is evidence for nothing; null: it is evidence. */
  readonly flaw: EvidenceFlaw | null;
}

export interface StoredRun {
  readonly testNo: number;
  readonly startedAt: Instant;
  readonly conclusion: RunConclusion;
  readonly durationMs: number | null;
  /** It was quarantined at that time. */
  readonly isQuarantined: boolean;
}

export interface StoredFailure {
  readonly testId: string;
  readonly testNo: number;
  readonly startedAt: Instant;
  /** The failure blocked a merge: the test was unhealthy at that time, and not quarantined. */
  readonly isBlocking: boolean;
  readonly isQuarantined: boolean;
  /** The failure's group, and a line that describes it. */
  readonly group: string;
  readonly summary: string;
  /** Cleaned and cut. */
  readonly text: string;
  /** The suites around it below the outermost one; null: unknown. */
  readonly path: string | null;
}

export interface FailingTest {
  readonly testNo: number;
  readonly testId: string;
  /** The suite paths that failed; absent, or null among them: unknown. */
  readonly paths?: readonly (string | null)[];
}

/** Stands for the check of uploads whose job is none of the candidate's checks. */
export const ANY_CHECK = '';

/** The results of one check of one candidate, from all uploads tied to it. */
export interface CheckResults {
  readonly candidateId: string;
  readonly check: string;
  /** Every report was read whole, and its declared counts agree. */
  readonly isWhole: boolean;
  /** Why the results are incomplete, as a sentence. */
  readonly problem: string | null;
  /** The uploads that are evidence. Of others only the failures count. */
  readonly uploadIds: readonly string[];
  /** Every test that ran or was skipped, ascending. */
  readonly testNos: readonly number[];
  /** The skipped tests among them, ascending; absent: all ran. */
  readonly skippedNos?: readonly number[];
  /** Tests that failed, and did not pass at a later attempt of the same case. */
  readonly failing: readonly FailingTest[];
  readonly at: Instant;
}

/** The change of one processed upload, or of one person's act. Stored whole under the next ingest sequence number. */
export interface TestChange {
  readonly repositoryId: RepositoryId;
  /** If the repository's sequence number differs, nothing is written. */
  readonly expectedSeq: number;
  /** Replaced by id. A new one has the next number (`LoadedTests.nextTestNo`), and a memory in the same change. */
  readonly tests: readonly TestRow[];
  readonly memories: readonly TestMemory[];
  readonly batch?: { readonly facts: BatchFacts; readonly runs: readonly StoredRun[] };
  readonly failures: readonly StoredFailure[];
  readonly events: readonly TestEventRow[];
  /** Ends the upload, or stores its progress, in the same transaction. */
  readonly upload?: UploadOutcome;
  /** Merged with the stored results of the candidate and check. */
  readonly checkResults?: CheckResults;
  /** Withdraws an ended upload as evidence, and marks its tests for a recount. Repeating it changes nothing. */
  readonly ignore?: { readonly uploadId: string } & UploadIgnored;
}

export interface LoadedTests {
  readonly seq: number;
  readonly nextTestNo: number;
  readonly known: readonly KnownTest[];
}

/** The runs of one batch that the stored memories of their tests do not count yet, by test number, then as they came. */
export interface UncountedBatch extends StoredBatch {
  readonly seq: number;
}

export interface StoredBatch {
  readonly facts: BatchFacts;
  readonly receivedAt: Instant;
  readonly runs: readonly StoredRun[];
}

export interface MemorySlice {
  readonly repositoryId: RepositoryId;
  readonly expectedSeq: number;
  /** Every memory that is newer than the stored one. */
  readonly memories: readonly TestMemory[];
}

export interface EarlierQuery {
  readonly sha: string;
  readonly job: string;
  /** Also batches of other commits of this tree, if they were received at `since` or later. */
  readonly ofTree?: { readonly tree: TestedTree; readonly since: Instant } | undefined;
  readonly exceptUploadId: string;
  /** Only batches with smaller numbers. */
  readonly beforeSeq: number;
  readonly limit: number;
}

/** The outcomes of another upload of the same job and the same commit or tree. */
export interface EarlierBatch {
  readonly seq: number;
  readonly facts: BatchFacts;
  /** The latest start of a failing run there, by test number and suite path. */
  readonly failures: readonly { readonly testNo: number; readonly at: Instant; readonly path: string | null }[];
}

export interface TestIngest {
  /** The existing tests of these ids, and the next numbers, all read at one moment. */
  load(repositoryId: RepositoryId, testIds: readonly string[]): Promise<LoadedTests>;
  /** The same by number. */
  loadRange(repositoryId: RepositoryId, fromNo: number, toNo: number): Promise<LoadedTests>;
  /** Undefined (nothing written): the number differs, a memory counts more runs, or the upload waits no more. */
  commit(change: TestChange, at: Instant): Promise<number | undefined>;
  countTests(repositoryId: RepositoryId): Promise<number>;
  /** Other batches of this job and this commit or tree that are evidence, the newest first. */
  findEarlier(repositoryId: RepositoryId, of: EarlierQuery): Promise<readonly EarlierBatch[]>;
  /** The given tests that passed in a batch, each with its latest passing start. */
  findPasses(
    repositoryId: RepositoryId,
    seq: number,
    testNos: readonly number[],
  ): Promise<ReadonlyMap<number, Instant>>;
  /** Batches whose runs are not marked as counted, in order; those without runs are not among them. */
  listUncounted(repositoryId: RepositoryId): Promise<readonly UncountedBatch[]>;
  /** How much that is. */
  measureUncounted(
    repositoryId: RepositoryId,
  ): Promise<{ readonly batches: number; readonly runs: number; readonly upToSeq: number }>;
  /** Uses no sequence number. False (nothing written) if another writer was first. */
  storeMemories(slice: MemorySlice): Promise<boolean>;
  /** Call it when the stored memories of all tests count the runs up to this number. */
  markCounted(repositoryId: RepositoryId, upToSeq: number): Promise<void>;
  findCheckResults(repositoryId: RepositoryId, candidateId: string, check: string): Promise<CheckResults | undefined>;
  /** Since `since`, for a recount. Batches in order; their runs by test number, then by start. */
  readRuns(repositoryId: RepositoryId, testNos: readonly number[], since: Instant): Promise<readonly StoredBatch[]>;
  /** Numbers of the tests that have runs in the upload, ascending. */
  listTestNos(repositoryId: RepositoryId, uploadId: string): Promise<readonly number[]>;
}

/** Tests that change without an upload. */
export interface TestUpkeepStore {
  /** Due tests of one repository, the longest due first. */
  listDue(
    now: Instant,
    limit: number,
  ): Promise<readonly { readonly repositoryId: RepositoryId; readonly testId: string }[]>;
  /** Tests that do not follow this version of the settings yet: the next ones by number. */
  listBehind(repositoryId: RepositoryId, settingsVersion: number, limit: number): Promise<readonly string[]>;
  /**
   * Forgets runs from before, and removes failures, events and batches. Also removes tests that last ran before and have no
   * override, flag or ticket, which uses a sequence number. Not one transaction: call it until it returns 0.
   */
  forget(repositoryId: RepositoryId, before: Instant, limit: number): Promise<number>;
  /** Of at most `limit` tests of one repository. Returns their number: call it until that is 0. */
  rollFigures(now: Instant, limit: number): Promise<number>;
  /** Frees the room of forgotten runs, and of runs of removed repositories. Call it until it returns 0. */
  purge(limit: number): Promise<number>;
}
