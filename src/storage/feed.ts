import type { Instant } from '../lib/clock.ts';
import type { OrganizationId } from './accounts.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { RepositoryId, RepositoryRef } from './repositories.ts';

/** An event with its place in the feed of its organization. */
export interface FeedRow extends FeedDraft {
  readonly organizationId: OrganizationId;
  /** Counts from 1 in each organization, without gaps, in the order in which events became visible. */
  readonly seq: number;
  /** The repository's name then. */
  readonly repo: RepositoryRef | null;
  /** Of this event and all records before it, if it is a record of the audit. */
  readonly digest: string | null;
}

export interface FeedHead {
  readonly lastSeq: number;
  /** The digest of the last record of the audit; null before the first. */
  readonly digest: string | null;
}

export interface FeedQuery {
  readonly organizationId: OrganizationId;
  /** Null: all of the organization, and events without a repository. */
  readonly repositoryIds: readonly RepositoryId[] | null;
  readonly targetBranch?: string;
  readonly prNumber?: number;
  readonly testId?: string;
  readonly types?: readonly string[];
  /** Events of these types are left out. */
  readonly hiddenTypes?: readonly string[];
  /** Both inclusive. */
  readonly from?: Instant;
  readonly until?: Instant;
  /** Exclusive, in the direction of `order`. */
  readonly afterSeq?: number;
  readonly isAuditOnly?: boolean;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
}

/** The digest of a record, made from the one before. */
export type Seal = (row: Omit<FeedRow, 'digest'>, previous: string | null) => string | null;

export interface FeedStore {
  /** Stores events that have no other transaction to be stored in. */
  add(drafts: readonly FeedDraft[]): Promise<void>;
  /** Stores events of one version of one source, unless some of it are there: several servers may try the same. */
  addOnce(organizationId: OrganizationId, drafts: readonly FeedDraft[]): Promise<void>;
  /** Tells which organizations have new ones. Servers may call it at once: the row of the head is locked. */
  sequence(seal: Seal, limit: number): Promise<readonly OrganizationId[]>;
  /** Of an organization without events: 0. */
  getHead(organizationId: OrganizationId): Promise<FeedHead>;
  /** The place of the newest event that a queue told up to a version; undefined if none is kept or has a place. */
  findLatest(source: string, version: number): Promise<number | undefined>;
  list(query: FeedQuery): Promise<readonly FeedRow[]>;
  /** Removes events from before `before` that are not records of the audit, `limit` at most; returns how many. */
  expire(before: Instant, limit: number): Promise<number>;
}
