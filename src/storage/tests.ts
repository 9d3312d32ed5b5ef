import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import type { DailyCounts } from '../flaky/daily-counts.ts';
import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';

export const TEST_STATUSES = ['HEALTHY', 'FLAKY', 'BROKEN'] as const;
export type TestStatus = (typeof TEST_STATUSES)[number];

export const QUARANTINE_OVERRIDES = ['ALWAYS_QUARANTINE', 'NEVER_QUARANTINE', 'UNSPECIFIED'] as const;
export type QuarantineOverride = (typeof QUARANTINE_OVERRIDES)[number];

export const RUN_CONCLUSIONS = ['SUCCESS', 'FAILURE', 'SKIPPED'] as const;
export type RunConclusion = (typeof RUN_CONCLUSIONS)[number];

/** A test's identity and present facts. Runs, and the memory of monitors, are stored apart. */
export interface TestRow {
  /** UUID. */
  readonly id: string;
  readonly repositoryId: RepositoryId;
  /** Counted within the repository, from 1, without gaps: runs name their test by it. */
  readonly no: number;
  readonly name: string;
  readonly variant: string;
  readonly parent: string | null;
  readonly classname: string | null;
  readonly file: string | null;
  readonly codeowners: readonly string[];
  readonly firstSeenAt: Instant;
  readonly status: TestStatus;
  readonly statusReason: string;
  readonly statusAt: Instant;
  readonly quarantineOverride: QuarantineOverride;
  /** Null if there is none. The end is absent if the override has none. */
  readonly override: OverrideFacts | null;
  /** The effective quarantine: it follows from the override, the repository's settings and the status. */
  readonly quarantinedAt: Instant | null;
  /** A person flagged it as flaky. */
  readonly isFlagged: boolean;
  readonly labels: readonly string[];
  readonly ticketUrl: string | null;
}

export interface OverrideFacts {
  readonly actor: string;
  readonly at: Instant;
  readonly reason: string;
  readonly expiresAt: Instant | null;
  /** The suite paths that ALWAYS_QUARANTINE covers. Decisions of earlier versions have none. */
  readonly suites?: readonly string[];
}

/** Lists are as of a watermark: later changes do not show in them. */
export interface TestListQuery {
  readonly repositoryId: RepositoryId;
  readonly watermark: number;
  readonly offset: number;
  readonly limit: number;
}

export interface TestList {
  readonly totalRows: number;
  readonly tests: readonly TestRow[];
}

export const TEST_ORDERS = ['PULL_REQUESTS', 'FAILURES', 'FAILURE_RATE', 'DURATION', 'LAST_FAILURE'] as const;
export type TestOrder = (typeof TEST_ORDERS)[number];

/** Null: whatever it is. Unlike the other lists it has no watermark: figures change with every upload. */
export interface RankedTestsQuery {
  readonly repositoryId: RepositoryId;
  readonly order: TestOrder;
  readonly status: TestStatus | null;
  readonly isQuarantined: boolean | null;
  /** Exactly as in CODEOWNERS. */
  readonly owner: string | null;
  /** A part of the name, class, file or suite, ignoring case. */
  readonly text: string | null;
  readonly offset: number;
  readonly limit: number;
}

export interface RankedTest {
  readonly test: TestRow;
  /** All runs that are stored, as far back as 30 days before the last of them, or a little longer. */
  readonly days: DailyCounts;
  /** Pull requests in which it failed while it was unhealthy and not quarantined, in the last 30 days. */
  readonly pullRequests: number;
  readonly lastFailureAt: Instant | null;
}

export interface RankedTests {
  readonly totalRows: number;
  readonly tests: readonly RankedTest[];
}

export interface FailureGroup {
  readonly summary: string;
  readonly occurrences: number;
  readonly lastAt: Instant;
}

/** Skipped runs are not counted. */
export interface TestStats {
  readonly runs7d: number;
  readonly failures7d: number;
  readonly runs24h: number;
  readonly failures24h: number;
  readonly pullRequestsImpacted7d: number;
  /** The five most frequent since `since`, then the latest. */
  readonly failureGroups: readonly FailureGroup[];
}

/** One run with the facts of its upload. */
export interface TestExecution {
  readonly conclusion: RunConclusion;
  readonly startedAt: Instant;
  readonly durationMs: number | null;
  readonly isQuarantined: boolean;
  readonly branch: string;
  readonly sha: string;
  readonly prNumber: number | null;
  readonly jobName: string;
  readonly jobUrl: string | null;
  readonly uploadId: string;
  /** Why its upload is evidence for nothing; null: it is evidence. */
  readonly flaw: EvidenceFlaw | null;
  /** Failures only. */
  readonly failureSummary: string | null;
  readonly failureText: string | null;
}

export interface TestRunQuery extends TestListQuery {
  readonly testId: string;
  /** Older runs are invisible. */
  readonly since: Instant;
  /** Exactly this branch; null: all. */
  readonly branch: string | null;
  readonly conclusion: RunConclusion | null;
}

export interface TestRunList {
  readonly totalRows: number;
  readonly runs: readonly TestExecution[];
}

/** An event of a test: `detail` is its JSON, in the writer's format. */
export interface TestEventRow {
  readonly testId: string;
  readonly at: Instant;
  /** Such as `status_changed`. */
  readonly kind: string;
  readonly actor: string | null;
  readonly detail: string;
}

export interface TestEventList {
  readonly totalRows: number;
  readonly events: readonly TestEventRow[];
}

/** The runs of a quarantined test since its quarantine, as far back as `since`, without skipped ones. */
export interface RunCounts {
  readonly passes: number;
  readonly failures: number;
  readonly lastRunAt: Instant | null;
}

/** Reads tests. Writing is in test-ingest.ts. */
export interface StatusCounts {
  readonly repositoryId: RepositoryId;
  readonly all: number;
  readonly flaky: number;
  readonly broken: number;
}

export interface TestStore {
  /** The latest ingest sequence number of the repository; 0 if there is none. */
  getWatermark(repositoryId: RepositoryId): Promise<number>;
  find(repositoryId: RepositoryId, testId: string): Promise<TestRow | undefined>;
  /** Tests whose name, class, file or suite contains the text (ignoring case), by name, then id; at most `limit`. */
  search(repositoryId: RepositoryId, text: string, limit: number): Promise<readonly TestRow[]>;
  /** Tests with a failing run within [from, until), most failures first, then by id. */
  listFailing(query: TestListQuery & { readonly from: Instant; readonly until: Instant }): Promise<TestList>;
  /** Tests quarantined as of the watermark, by id. */
  listQuarantined(query: TestListQuery): Promise<TestList>;
  /** Tests of this status as of the watermark, by id. */
  listByStatus(query: TestListQuery & { readonly status: TestStatus }): Promise<TestList>;
  /** Of the last 30 days, the largest first, then by number. Passes move a test within a minute or so. */
  rank(query: RankedTestsQuery): Promise<RankedTests>;
  /** The same figures of one test. */
  getFigures(repositoryId: RepositoryId, testNo: number): Promise<RankedTest | undefined>;
  /** One for each id, in their order. `now` ends the windows; runs and groups reach back to `since` at most. */
  getStats(query: {
    readonly repositoryId: RepositoryId;
    readonly testIds: readonly string[];
    readonly now: Instant;
    readonly since: Instant;
  }): Promise<readonly TestStats[]>;
  /** Newest first by start, then the latest stored. Runs stored after the watermark do not show. */
  listRuns(query: TestRunQuery): Promise<TestRunList>;
  /** Newest first. Events stored after the watermark do not show. */
  listEvents(query: TestListQuery & { readonly testId: string }): Promise<TestEventList>;
  /** One for each test, in their order: runs that started at `since` or later. */
  countRuns(
    repositoryId: RepositoryId,
    tests: readonly { readonly testId: string; readonly since: Instant }[],
  ): Promise<readonly RunCounts[]>;
  /** One for each of the repositories that has tests. Its cost depends on the tests that are not healthy. */
  countByStatus(repositoryIds: readonly RepositoryId[]): Promise<readonly StatusCounts[]>;
  /** All ids quarantined now, and a version that grows with every change: callers cache by it. */
  getQuarantineVersion(repositoryId: RepositoryId): Promise<number>;
  listQuarantinedIds(
    repositoryId: RepositoryId,
  ): Promise<{ readonly version: number; readonly ids: readonly string[] }>;
}
