import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import type { Instant } from '../lib/clock.ts';
import type { OrganizationId } from './accounts.ts';
import type { RepositoryId } from './repositories.ts';

export const UPLOAD_STATUSES = ['PENDING', 'ACCEPTED', 'PROCESSED', 'SKIPPED', 'FAILED'] as const;
/** PENDING: its URL was given out, and nothing has come. Such uploads are not listed. */
export type UploadStatus = (typeof UPLOAD_STATUSES)[number];

/** `bundle`: what the uploader packs. `reports`: files as CI wrote them. `runner`: those of the built-in runner. */
export type UploadKind = 'bundle' | 'reports' | 'runner';

export interface UploadIssue {
  readonly level: 'error' | 'warning' | 'info';
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly hint: string;
}

/** One file of a body; the bytes as they came. */
export interface UploadFile {
  readonly name: string;
  readonly encoding: 'identity' | 'gzip' | 'deflate' | 'zstd' | 'br';
  readonly sizeBytes: number;
  /** Says who owns the tests; without one it is results. */
  readonly role?: 'codeowners';
}

/** What whoever uploaded said; of a bundle it is in its meta.json, and known when it is processed. */
export interface UploadFields {
  readonly sha: string;
  readonly branch: string;
  readonly prNumber: number | null;
  readonly jobName: string | null;
  readonly jobUrl: string | null;
  readonly variant: string;
  /** The candidate, and the check of it, that these are the results of. */
  readonly candidateId: string | null;
  /** Without a candidate it names the job. */
  readonly check: string | null;
  /** The commit is a fork's: its runs are evidence for nothing. */
  readonly isFork: boolean;
  /** Which try of the job this is, where somebody said. */
  readonly jobAttempt: number | null;
  /** The folder that the repository was checked out to, where somebody said. */
  readonly checkoutRoot?: string;
}

/** Somebody took its evidence back. */
export interface UploadIgnored {
  readonly at: Instant;
  readonly actor: string;
  readonly reason: string;
}

/** Tests that ran in it, and those of them that failed without passing. */
export interface UploadCounts {
  readonly ran: number;
  readonly failed: number;
}

export interface Upload {
  readonly id: string;
  readonly repositoryId: RepositoryId;
  readonly kind: UploadKind;
  /** It came with a token, or from a part of Sluice, that no code of a pull request has. */
  readonly isProven: boolean;
  /** Why it is evidence for nothing; null: it is, or nobody knows yet. */
  readonly flaw: EvidenceFlaw | null;
  /** Null: not known yet. */
  readonly counts: UploadCounts | null;
  readonly ignored: UploadIgnored | null;
  readonly status: UploadStatus;
  /** Of a bundle: when its URL was given out, until it comes. */
  readonly receivedAt: Instant;
  readonly processedAt: Instant | null;
  readonly fields: UploadFields | null;
  /** Which body; null: none has come, or it is kept no longer. */
  readonly bodyId: string | null;
  readonly files: readonly UploadFile[];
  readonly sizeBytes: number;
  /** How many parts of it are stored: processing goes on behind them. */
  readonly partsDone: number;
  readonly testRuns: number;
  readonly issues: readonly UploadIssue[];
  /** Same body, same fields: a digest. Null: not compared. */
  readonly digest: string | null;
  /** Of a bundle: what the client said when it asked for the URL. */
  readonly clientVersion: string | null;
  /** Why it waits: how often processing failed for a reason that may pass, and the sentence. */
  readonly attempts: number;
  readonly trouble: string | null;
}

/** How processing went on or ended. */
export interface UploadOutcome {
  readonly uploadId: string;
  readonly partsDone: number;
  /** ACCEPTED: there is more to come. */
  readonly status: Exclude<UploadStatus, 'PENDING'>;
  readonly processedAt: Instant | null;
  readonly fields: UploadFields | null;
  readonly testRuns: number;
  readonly issues: readonly UploadIssue[];
  /** Null: as it was before. */
  readonly flaw: EvidenceFlaw | null;
  readonly counts: UploadCounts | null;
}

/** Clocks of servers differ a little; one that is far ahead takes leases that seem to last for days. */
export function horizonOf(now: Instant, leaseUntil: Instant): Instant {
  return now + 10 * (leaseUntil - now);
}

export interface UploadListQuery {
  readonly repositoryId: RepositoryId;
  /** Only uploads accepted by then. */
  readonly watermark: number;
  readonly offset: number;
  readonly limit: number;
}

export interface ClaimableRepository {
  readonly repositoryId: RepositoryId;
  readonly organizationId: OrganizationId | null;
}

export interface UploadStore {
  /** Adds bytes to a file of a body. A body belongs to nobody until an upload names it. */
  appendBody(bodyId: string, fileNo: number, bytes: Uint8Array, at: Instant): Promise<void>;
  /** In the pieces in which they came, or others. */
  readBody(bodyId: string, fileNo: number): AsyncIterable<Uint8Array>;
  removeBody(bodyId: string): Promise<void>;
  /**
   * Stores an upload that waits for its body (PENDING), or for being processed (ACCEPTED, numbered in order of
   * acceptance). Where `digest` is that of an upload of the repository received after `sameSince`, that one is answered
   * and nothing is stored.
   */
  create(upload: Upload, sameSince: Instant): Promise<Upload>;
  /** The body of a PENDING upload has come. The first wins: where another came before, that stays, and false. */
  accept(
    id: string,
    body: {
      readonly bodyId: string;
      readonly files: readonly UploadFile[];
      readonly sizeBytes: number;
      readonly at: Instant;
    },
  ): Promise<boolean>;
  find(id: string): Promise<Upload | undefined>;
  /**
   * The oldest ACCEPTED upload of a repository that nobody else works on, which is the holder's then until the lease ends;
   * one that the holder has for most of that time anyway is left as it is.
   * Uploads of one repository are processed in the order of their acceptance. One in trouble is left until `retryAt`.
   * `of` is the only repository that is meant.
   */
  claim(holder: string, now: Instant, leaseUntil: Instant, of?: RepositoryId): Promise<Upload | undefined>;
  /** Of which repositories an upload could be claimed, the one that waits longest first; `organizationId` null: it is gone. */
  listClaimable(holder: string, now: Instant, leaseUntil: Instant): Promise<readonly ClaimableRepository[]>;
  /** False: the lease is another's now. */
  renew(holder: string, repositoryId: RepositoryId, leaseUntil: Instant): Promise<boolean>;
  release(holder: string, repositoryId: RepositoryId): Promise<void>;
  /** Processing failed for a reason that may pass. */
  delay(id: string, of: { readonly trouble: string; readonly retryAt: Instant }): Promise<void>;
  /** Ends an upload without results, where it still waits. */
  finish(outcome: UploadOutcome): Promise<void>;
  /** An ended upload is to be processed again (after a parser was mended): answers false where its body is gone. */
  processAgain(id: string): Promise<boolean>;
  /** Those whose evidence was taken back and whose tests are not counted again yet. */
  listToRecount(): Promise<readonly Upload[]>;
  markRecounted(id: string): Promise<void>;
  /** The number of the latest accepted upload; 0 where there is none. */
  getWatermark(repositoryId: RepositoryId): Promise<number>;
  /** Newest first. */
  list(query: UploadListQuery): Promise<{ readonly totalRows: number; readonly uploads: readonly Upload[] }>;
  /** Whether an ACCEPTED one is tied to the candidate and check. */
  hasWaiting(repositoryId: RepositoryId, candidateId: string, check: string): Promise<boolean>;
  /** Oldest accepted and not processed yet, over all repositories, and how many; for metrics and the log. */
  measure(): Promise<{ readonly waiting: number; readonly oldestAt: Instant | null }>;
  /**
   * Removes bodies of ended uploads received before, and the oldest beyond `maxBytes` in all; bodies that no upload
   * named within an hour; PENDING uploads older than a day; and uploads received before `uploadsBefore`. Answers how many.
   */
  tidy(of: {
    readonly now: Instant;
    readonly bodiesBefore: Instant;
    readonly maxBytes: number;
    readonly uploadsBefore: Instant;
  }): Promise<number>;
}
