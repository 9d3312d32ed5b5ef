import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import type { Instant } from '../lib/clock.ts';
import type { OrganizationId } from './accounts.ts';
import type { RepositoryId } from './repositories.ts';
import type { TestListQuery } from './tests.ts';

export const UPLOAD_STATUSES = ['PENDING', 'ACCEPTED', 'PROCESSED', 'SKIPPED', 'FAILED'] as const;
/** PENDING: its URL was given out, and no body has arrived. Such uploads are not listed. */
export type UploadStatus = (typeof UPLOAD_STATUSES)[number];

/** `bundle`: packed by the uploader. `reports`: files as CI wrote them. `runner`: those of the built-in runner. */
export type UploadKind = 'bundle' | 'reports' | 'runner';

/** One file of a body; the raw bytes. */
export interface UploadFile {
  readonly name: string;
  readonly encoding: 'identity' | 'gzip' | 'deflate' | 'zstd' | 'br';
  readonly sizeBytes: number;
  /** A CODEOWNERS file; absent: results. */
  readonly role?: 'codeowners';
}

/** The uploader's own statements. For a bundle they are in its meta.json, and known once it is processed. */
export interface UploadFields {
  readonly sha: string;
  readonly branch: string;
  readonly prNumber: number | null;
  readonly jobName: string | null;
  readonly jobUrl: string | null;
  readonly variant: string;
  /** The candidate, and its check, that the results belong to. */
  readonly candidateId: string | null;
  /** Without a candidate it names the job. */
  readonly check: string | null;
  /** The commit is a fork's: its runs are evidence for nothing. */
  readonly isFork: boolean;
  readonly jobAttempt: number | null;
  /** The folder of the checkout, if known. */
  readonly checkoutRoot?: string;
}

/** A person withdrew the upload as evidence. */
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
  /** Why it is evidence for nothing; null: it is evidence, or that is not known yet. */
  readonly flaw: EvidenceFlaw | null;
  /** Null: not known yet. */
  readonly counts: UploadCounts | null;
  readonly ignored: UploadIgnored | null;
  readonly status: UploadStatus;
  /** For a bundle: when its URL was given out, until the body arrives. */
  readonly receivedAt: Instant;
  readonly processedAt: Instant | null;
  readonly fields: UploadFields | null;
  /** The stored body; null: none has arrived, or it was removed. */
  readonly bodyId: string | null;
  readonly files: readonly UploadFile[];
  readonly sizeBytes: number;
  /** Number of stored parts: processing continues behind them. */
  readonly partsDone: number;
  readonly testRuns: number;
  readonly issues: readonly Issue[];
  /** Digest of body and fields, to detect duplicates. Null: not compared. */
  readonly digest: string | null;
  /** For a bundle: the client's version, from the request for the URL. */
  readonly clientVersion: string | null;
  /** Number of failed attempts whose cause may pass, and the last cause as a sentence. */
  readonly attempts: number;
  readonly trouble: string | null;
}

export interface UploadOutcome
  extends Pick<Upload, 'partsDone' | 'processedAt' | 'fields' | 'testRuns' | 'issues' | 'counts'> {
  readonly uploadId: string;
  /** ACCEPTED: more parts follow. */
  readonly status: Exclude<UploadStatus, 'PENDING'>;
  /** Null: unchanged. */
  readonly flaw: EvidenceFlaw | null;
}

/** A server with a clock far ahead takes leases that seem to last for days: a longer one is ignored. */
export function horizonOf(now: Instant, leaseUntil: Instant): Instant {
  return now + 10 * (leaseUntil - now);
}

/** Only uploads accepted by the watermark. */
export type UploadListQuery = TestListQuery;

export interface ClaimableRepository {
  readonly repositoryId: RepositoryId;
  readonly organizationId: OrganizationId | null;
}

export interface UploadStore {
  /** One with the same `digest`, received after `sameSince`, is returned instead. ACCEPTED ones are numbered. */
  create(upload: Upload, sameSince: Instant): Promise<Upload>;
  /** Attaches the body of a PENDING upload. The first body wins; false if another came before. */
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
  /** Makes an ended upload wait for processing again (after a fix of a parser); false if its body is gone. */
  processAgain(id: string): Promise<boolean>;
  /** The number of the latest accepted upload; 0 if there is none. */
  getWatermark(repositoryId: RepositoryId): Promise<number>;
  /** Newest first. */
  list(query: UploadListQuery): Promise<{ readonly totalRows: number; readonly uploads: readonly Upload[] }>;
  /** ACCEPTED, and tied to the check or received by `untiedBy` without a candidate: processing may tie it. */
  hasWaiting(repositoryId: RepositoryId, candidateId: string, check: string, untiedBy?: Instant): Promise<boolean>;
  /** Accepted and unprocessed uploads; none for a repository without any. */
  countWaiting(
    repositoryIds: readonly RepositoryId[],
  ): Promise<readonly { readonly repositoryId: RepositoryId; readonly waiting: number }[]>;
}

/** The bytes of uploads. A body has no owner until an upload names it. */
export interface UploadBodyStore {
  append(bodyId: string, fileNo: number, bytes: Uint8Array, at: Instant): Promise<void>;
  /** The pieces may differ from those appended. */
  read(bodyId: string, fileNo: number): AsyncIterable<Uint8Array>;
  remove(bodyId: string): Promise<void>;
}

export interface UploadWorkStore {
  /**
   * Leases the oldest ACCEPTED upload of a repository that no other holder works on. A lease that the holder already
   * has for most of that time is left as it is. Uploads of one repository are processed in the order of their
   * acceptance. A failed one waits until `retryAt`. `of` limits the claim to one repository.
   */
  claim(holder: string, now: Instant, leaseUntil: Instant, of?: RepositoryId): Promise<Upload | undefined>;
  /** The ACCEPTED upload behind the oldest one, which may be claimed next. */
  findSecond(repositoryId: RepositoryId): Promise<Upload | undefined>;
  /** The longest waiting first; `organizationId` null: the repository is gone. */
  listClaimable(holder: string, now: Instant, leaseUntil: Instant): Promise<readonly ClaimableRepository[]>;
  /** False: another holder has the lease now. */
  renew(holder: string, repositoryId: RepositoryId, leaseUntil: Instant): Promise<boolean>;
  release(holder: string, repositoryId: RepositoryId): Promise<void>;
  /** Processing failed for a reason that may pass. */
  delay(id: string, of: { readonly trouble: string; readonly retryAt: Instant }): Promise<void>;
  /** Ends an upload without results, if it still waits. */
  finish(outcome: UploadOutcome): Promise<void>;
  /** Withdrawn uploads whose tests are not recounted yet. */
  listToRecount(): Promise<readonly Upload[]>;
  markRecounted(id: string): Promise<void>;
  /** The oldest accepted and unprocessed upload over all repositories, and their number; for metrics and the log. */
  measure(): Promise<{ readonly waiting: number; readonly oldestAt: Instant | null }>;
  /**
   * Removes bodies of ended uploads received before, and the oldest beyond `maxBytes` in all; bodies that no upload
   * named within an hour; PENDING uploads older than a day; and uploads received before `uploadsBefore`. Returns how
   * many.
   */
  tidy(of: {
    readonly now: Instant;
    readonly bodiesBefore: Instant;
    readonly maxBytes: number;
    readonly uploadsBefore: Instant;
  }): Promise<number>;
}
