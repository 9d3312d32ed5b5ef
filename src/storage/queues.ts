import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { LeasedWork, Postponement } from './leased-work.ts';
import type { RepositoryId } from './repositories.ts';

export type QueueId = Brand<string, 'QueueId'>;

/** Bodies are JSON of app/core/queue-codec.ts; other columns serve queries. A row last changed at `version`. */
export interface QueueRow {
  readonly id: QueueId;
  readonly repositoryId: RepositoryId;
  readonly branch: string;
  readonly version: number;
  readonly body: string;
  readonly createdAt: Instant;
}

export interface EntryRow {
  readonly id: string;
  readonly queueId: QueueId;
  readonly prNumber: number;
  readonly version: number;
  readonly isLive: boolean;
  readonly state: string;
  /** Submission of the present cycle. */
  readonly submittedAt: Instant;
  readonly targetsDigest: string | null;
  readonly body: string;
}

/** One step of an entry's life. `ordinal` orders the transitions of one version. */
export interface TransitionRow {
  readonly queueId: QueueId;
  readonly entryId: string;
  readonly prNumber: number;
  readonly version: number;
  readonly ordinal: number;
  readonly at: Instant;
  readonly from: string | null;
  readonly to: string;
  readonly isBisection: boolean;
  /** Time spent in `from`. */
  readonly durationMs: number | null;
  /** Time since admission, if this transition ends the cycle of an admitted entry. */
  readonly inQueueMs: number | null;
  /** Reason, actor, candidate and so on: the timeline's JSON. */
  readonly body: string;
}

export interface QueueDeletion {
  readonly at: Instant;
  readonly by: string;
}

export interface DeletedQueue extends QueueDeletion {
  readonly id: QueueId;
}

export interface EventRow {
  readonly version: number;
  readonly at: Instant;
  readonly kind: string;
  readonly body: string;
}

/** A candidate, live or ended: ended ones are the history of test runs. */
export interface CandidateRow {
  readonly queueId: QueueId;
  /** Counted within the queue. */
  readonly number: number;
  /** The API's testRunId: unique among all queues. */
  readonly id: string;
  readonly version: number;
  /** The engine needs it to decide, so it is loaded with the queue. Remembered passes are live too. */
  readonly isLive: boolean;
  readonly state: string;
  readonly isBisection: boolean;
  /** Its commit, once built. */
  readonly sha: string | null;
  readonly createdAt: Instant;
  readonly endedAt: Instant | null;
  readonly body: string;
}

/**
 * An outbox row: an external action that is kept until it is done. Effects of one queue with the same `stream` run one
 * after another, in the order in which they were stored; those of different streams run in parallel.
 */
export interface EffectRow {
  /** Unique among all queues. */
  readonly id: string;
  readonly kind: string;
  readonly stream: string;
  readonly dueAt: Instant;
  readonly body: string;
}

export interface StoredEffect extends EffectRow {
  readonly queueId: QueueId;
  readonly attempts: number;
  readonly lastError: string | null;
  /** Given up: the effect is shown, blocks its stream, and waits for an operator. */
  readonly parkedAt: Instant | null;
}

export type EffectKey = Pick<EffectRow, 'id'>;

export type EffectSettlement =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly dueAt: Instant; readonly error: string }
  | Postponement
  | { readonly kind: 'park'; readonly at: Instant; readonly error: string };

/** Claims get effects that are not parked and first of their stream. Effects of deleted queues are not claimed. */
export interface EffectStore extends LeasedWork<StoredEffect, EffectKey, EffectSettlement> {
  /** Effects not done yet, oldest first, parked ones included. */
  list(queueId: QueueId): Promise<readonly StoredEffect[]>;
  /** Effects of all queues that are not done, how many of them are parked, and since when the oldest other one is due. */
  measure(): Promise<{ readonly waiting: number; readonly parked: number; readonly oldestDueAt: Instant | null }>;
  /** Makes parked effects of a queue due again, from their first attempt; returns how many. */
  unpark(queueId: QueueId, at: Instant): Promise<number>;
}

/** A list of impacted targets, stored once for all rows that name it. */
export interface TargetSetRow {
  readonly digest: string;
  readonly body: string;
}

/** An upload of setImpactedTargets for one head commit. It may come before the pull request is submitted. */
export interface ImpactedTargetsRow {
  readonly queueId: QueueId;
  readonly prNumber: number;
  readonly sha: string;
  /** JSON without the list itself, which is the target set `digest` names. */
  readonly body: string;
  readonly targetsDigest: string | null;
  readonly setAt: Instant;
  /** Uploaded without a token: such a row replaces only another one of its kind. */
  readonly isOfFork: boolean;
}

/** Steps of one queue in one transaction: versions expectedVersion + 1, + 2 and so on. Each row in its final state. */
export interface QueueCommit {
  readonly queueId: QueueId;
  readonly expectedVersion: number;
  readonly body: string;
  readonly events: readonly EventRow[];
  readonly entries: readonly EntryRow[];
  readonly candidates: readonly CandidateRow[];
  readonly transitions: readonly TransitionRow[];
  readonly feed?: readonly FeedDraft[];
  /** An effect that exists already takes the new kind, due time and body; its place, attempts and lease stay. */
  readonly effects: readonly EffectRow[];
  /** Ids of this queue's effects that are done and can be removed; unknown ones are ignored. */
  readonly doneEffects?: readonly string[];
  readonly targetSets: readonly TargetSetRow[];
  /** The last one for a commit wins, but a fork's replaces no other. The commit keeps KEPT_UPLOADS of each kind. */
  readonly impactedTargets: readonly ImpactedTargetsRow[];
}

export interface QueueSnapshot {
  readonly queue: QueueRow;
  /** Live entries; for `loadSince`, every entry that changed since, live or not. */
  readonly entries: readonly EntryRow[];
  /** Live candidates; for `loadSince`, every candidate that changed since, live or not. */
  readonly candidates: readonly CandidateRow[];
  readonly targetSets: readonly TargetSetRow[];
}

export interface EntryFilter {
  readonly queueId: QueueId;
  readonly state?: string;
  /** Entries with a transition to a terminal state at or after / at or before this instant. */
  readonly concludedFrom?: Instant;
  readonly concludedUntil?: Instant;
  /** Continue after this entry (by id), in the list's order: latest submission first, then id. */
  readonly afterId?: string;
  readonly limit: number;
}

export interface TransitionWindow {
  readonly queueIds: readonly QueueId[];
  readonly from: Instant;
  /** Inclusive. */
  readonly until: Instant;
}

/** `until` is exclusive. */
export interface QueueWindow {
  readonly queueId: QueueId;
  readonly from: Instant;
  readonly until: Instant;
}

export interface DepartureQuery {
  readonly queueId: QueueId;
  readonly state: string;
  readonly from: Instant;
  readonly until: Instant;
  readonly offset: number;
  readonly limit: number;
}

/** Bounds the uploads of a pull request with many pushes: so many commits keep theirs, by the latest `setAt`. */
// SPEC G154
export const KEPT_UPLOADS = 20;

export function isOutranked(row: ImpactedTargetsRow, known: ImpactedTargetsRow | undefined): boolean {
  return row.isOfFork && known?.isOfFork === false;
}
/** Naming a stored target set again renews it. A set younger than this is not rewritten, because sets are large. */
export const TARGET_SET_RENEWAL_MS = 86_400_000;

export type Decide = (changed: QueueSnapshot | undefined) => QueueCommit | undefined;

export interface QueueStore {
  /** Stores the queue at version 1 with its first event. `exists` (nothing written) if the branch has a queue. */
  create(queue: QueueRow, event: EventRow, feed?: readonly FeedDraft[]): Promise<'created' | 'exists'>;
  find(repositoryId: RepositoryId, branch: string): Promise<QueueRow | undefined>;
  /** Ordered by branch. */
  listByRepository(repositoryId: RepositoryId): Promise<readonly QueueRow[]>;
  /** Hides the queue, and stores that as its last event; `stale` if the version moved. Its history stays. */
  delete(
    queueId: QueueId,
    expectedVersion: number,
    act: QueueDeletion,
    feed?: readonly FeedDraft[],
  ): Promise<'deleted' | 'stale'>;
  findDeleted(repositoryId: RepositoryId, branch: string): Promise<DeletedQueue | undefined>;
  /** Undefined if there is no such queue, or it was deleted. */
  load(queueId: QueueId): Promise<QueueSnapshot | undefined>;
  loadSince(queueId: QueueId, version: number): Promise<QueueSnapshot | undefined>;
  findVersion(queueId: QueueId): Promise<number | undefined>;
  /** Of those of the queues that are not deleted. */
  findVersions(queueIds: readonly QueueId[]): Promise<ReadonlyMap<QueueId, number>>;
  /** `stale` (nothing written) if the stored version is not the expected one, or the queue is gone. */
  commit(commit: QueueCommit): Promise<'committed' | 'stale'>;
  /** `decide` gets what changed since `version`, if anything, and may be called again. Undefined from it: no commit. */
  commitInTurn(queueId: QueueId, version: number, decide: Decide): Promise<'committed' | 'gone'>;
  /**
   * Removes target sets that no entry and no upload names, and that no commit has named since `before`; returns how
   * many. Events name sets only by digest, so `before` must reach back as far as events are replayed. It must also be
   * more than a day ago: sets are renewed once a day, and a running commit relies on the sets it named.
   */
  removeUnusedTargetSets(before: Instant): Promise<number>;
  findTargetSet(digest: string): Promise<TargetSetRow | undefined>;
  findImpactedTargets(queueId: QueueId, prNumber: number, sha: string): Promise<ImpactedTargetsRow | undefined>;
}

/** The entries, candidates and events of queues, live or ended. */
export interface QueueRecordStore {
  findEntry(queueId: QueueId, prNumber: number): Promise<EntryRow | undefined>;
  findEntries(queueId: QueueId, prNumbers: readonly number[]): Promise<readonly EntryRow[]>;
  /** Of a pull request that was ever submitted. */
  findHighestNumber(queueId: QueueId): Promise<number | undefined>;
  listEntries(filter: EntryFilter): Promise<readonly EntryRow[]>;
  /** An entry's whole timeline, newest first. */
  listTransitions(entryId: string): Promise<readonly TransitionRow[]>;
  /** All transitions of these queues within the window, oldest first; bodies included. */
  listTransitionsWithin(window: TransitionWindow): Promise<readonly TransitionRow[]>;
  /** The transitions out of a state within the window (both ends inclusive), newest first, and their total. */
  listDepartures(query: DepartureQuery): Promise<{ readonly rows: readonly TransitionRow[]; readonly total: number }>;
  /** The transitions that end a stay within the window, oldest first. */
  listConclusions(window: QueueWindow): Promise<readonly TransitionRow[]>;
  /** The candidates that ended within the window, oldest first. */
  listCandidatesEnded(window: QueueWindow): Promise<readonly CandidateRow[]>;
  /** Oldest first, from the version after `afterVersion`. */
  listEvents(queueId: QueueId, afterVersion: number, limit: number): Promise<readonly EventRow[]>;
  findCandidate(queueId: QueueId, number: number): Promise<CandidateRow | undefined>;
  /** By the API's testRunId, in any queue. */
  findCandidateById(id: string): Promise<CandidateRow | undefined>;
  /** The newest candidate of these queues whose commit is `sha`. */
  findCandidateBySha(queueIds: readonly QueueId[], sha: string): Promise<CandidateRow | undefined>;
  /** The latest candidates that have ended, oldest first. */
  listEndedCandidates(queueId: QueueId, limit: number): Promise<readonly CandidateRow[]>;
}
