import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';

export const TEST_STATUSES = ['HEALTHY', 'FLAKY', 'BROKEN'] as const;
export type TestStatus = (typeof TEST_STATUSES)[number];

export const QUARANTINE_OVERRIDES = ['ALWAYS_QUARANTINE', 'NEVER_QUARANTINE', 'UNSPECIFIED'] as const;
export type QuarantineOverride = (typeof QUARANTINE_OVERRIDES)[number];

/** An identity and what is known of it now. Runs are kept apart. */
export interface TestRow {
  /** UUID. */
  readonly id: string;
  readonly repositoryId: RepositoryId;
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
  /** Effective: what the override, the repository's settings and the status make of it. */
  readonly quarantinedAt: Instant | null;
  readonly ticketUrl: string | null;
}

export interface TestRunRow {
  readonly testId: string;
  readonly startedAt: Instant;
  readonly conclusion: 'SUCCESS' | 'FAILURE' | 'SKIPPED';
  readonly durationMs: number | null;
  readonly branch: string;
  readonly sha: string;
  readonly prNumber: number | null;
  /** The failure blocked somebody: the test was unhealthy then, and not quarantined. */
  readonly isBlocking: boolean;
  /** Failures only: which of the test's ways to fail this was, and a line that says so. */
  readonly failureGroup: string | null;
  readonly failureSummary: string | null;
}

/** What one processed upload, or one person's act, changes. Stored whole under the next ingest sequence number. */
export interface TestChange {
  readonly repositoryId: RepositoryId;
  /** Inserted, or replaced by id. */
  readonly tests: readonly TestRow[];
  readonly runs: readonly TestRunRow[];
}

/** Lists answer as of a watermark: what later changes brought or took away does not show in them. */
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

export interface FailureGroup {
  readonly summary: string;
  readonly occurrences: number;
  readonly lastAt: Instant;
}

/** Skipped runs are no runs here. */
export interface TestStats {
  readonly runs7d: number;
  readonly failures7d: number;
  readonly runs24h: number;
  readonly failures24h: number;
  readonly pullRequestsImpacted7d: number;
  /** The five most frequent since `since`, then the latest. */
  readonly failureGroups: readonly FailureGroup[];
}

export interface TestStore {
  /** Answers the change's ingest sequence number. Numbers of a repository grow in the order of commits, from 1. */
  apply(change: TestChange): Promise<number>;
  /** The latest ingest sequence number of the repository; 0 where there is none. */
  getWatermark(repositoryId: RepositoryId): Promise<number>;
  find(repositoryId: RepositoryId, testId: string): Promise<TestRow | undefined>;
  /** Tests with a failing run within [from, until), most failures first, then by id. */
  listFailing(query: TestListQuery & { readonly from: Instant; readonly until: Instant }): Promise<TestList>;
  /** Tests quarantined as of the watermark, by id. */
  listQuarantined(query: TestListQuery): Promise<TestList>;
  /** Tests of this status as of the watermark, by id. */
  listByStatus(query: TestListQuery & { readonly status: TestStatus }): Promise<TestList>;
  /** One for each id, in their order. `now` ends the windows; failure groups reach back to `since`. */
  getStats(query: {
    readonly repositoryId: RepositoryId;
    readonly testIds: readonly string[];
    readonly now: Instant;
    readonly since: Instant;
  }): Promise<readonly TestStats[]>;
}
