import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { RepositoryId } from './repositories.ts';

export type QueueId = Brand<string, 'QueueId'>;

/**
 * Bodies are JSON that only app/queue-codec.ts reads and writes; the columns beside them are what queries need.
 * `version` is the queue's version at which a row last changed.
 */
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
  /** Of the present cycle. */
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
  /** Spent in `from`. */
  readonly durationMs: number | null;
  /** Since admission, where this transition ends the cycle of an admitted entry. */
  readonly inQueueMs: number | null;
  /** Reason, actor, candidate and so on: the timeline's JSON. */
  readonly body: string;
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
  /** The engine needs it to decide: loaded with the queue. Remembered passes are live too. */
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
 * Something the outside must be asked to do, kept until it is done. Effects of one queue with the same `stream` are
 * carried out one after the other, in the order in which they were stored; those of different streams at once.
 */
export interface EffectRow {
  /** Unique among all queues. */
  readonly id: string;
  readonly kind: string;
  readonly stream: string;
  readonly dueAt: Instant;
  readonly body: string;
}

/** An effect as it waits in the store. */
export interface StoredEffect extends EffectRow {
  readonly queueId: QueueId;
  /** How often it was tried and failed. */
  readonly attempts: number;
  readonly lastError: string | null;
  /** Given up: it is shown, blocks its stream, and waits for somebody to look at it. */
  readonly parkedAt: Instant | null;
}

export interface EffectClaim {
  /** Names this claim: only its holder can settle the effect. */
  readonly holder: string;
  readonly now: Instant;
  /** Until then nobody else may claim it; a holder that dies loses it by this. */
  readonly leaseUntil: Instant;
  readonly limit: number;
}

export type EffectSettlement =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly dueAt: Instant; readonly error: string }
  /** Not yet its turn: tried again without counting as a failed attempt. */
  | { readonly kind: 'postpone'; readonly dueAt: Instant }
  | { readonly kind: 'park'; readonly at: Instant; readonly error: string };

/** A list of impacted targets, stored once however many rows name it. */
export interface TargetSetRow {
  readonly digest: string;
  readonly body: string;
}

/** What setImpactedTargets said for one head commit; also before the pull request is submitted. */
export interface ImpactedTargetsRow {
  readonly queueId: QueueId;
  readonly prNumber: number;
  readonly sha: string;
  /** JSON without the list itself, which is the target set `digest` names. */
  readonly body: string;
  readonly targetsDigest: string | null;
  readonly setAt: Instant;
  /** Given without a token: such a row replaces only another one. */
  readonly isOfFork: boolean;
}

/**
 * One or more steps of one queue, stored together or not at all. Events have the versions expectedVersion + 1, + 2 and
 * so on; rows that changed several times are given once, as they are at the end.
 */
export interface QueueCommit {
  readonly queueId: QueueId;
  readonly expectedVersion: number;
  readonly body: string;
  readonly events: readonly EventRow[];
  readonly entries: readonly EntryRow[];
  readonly candidates: readonly CandidateRow[];
  readonly transitions: readonly TransitionRow[];
  /** One that is asked for again is given its new kind, due time and body; its place, attempts and lease stay. */
  readonly effects: readonly EffectRow[];
  /** Ids of this queue's effects that are done and need not be kept; unknown ones are passed over. */
  readonly doneEffects?: readonly string[];
  readonly targetSets: readonly TargetSetRow[];
  /**
   * Of several for one commit the last one stays, except that a fork's never replaces another. Of each pull request the
   * KEPT_UPLOADS newest stay, by `setAt`, and as many of forks; older ones are removed in the same commit.
   */
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

export interface DepartureQuery {
  readonly queueId: QueueId;
  readonly state: string;
  readonly from: Instant;
  readonly until: Instant;
  readonly offset: number;
  readonly limit: number;
}

/** A pull request that is pushed to again and again keeps its uploads for this many commits, the latest set ones. */
export const KEPT_UPLOADS = 20;

export function isOutranked(row: ImpactedTargetsRow, known: ImpactedTargetsRow | undefined): boolean {
  return row.isOfFork && known?.isOfFork === false;
}
/**
 * A stored target set that is named again counts as new from then on. Within this time it is young enough and not
 * written again: sets are large.
 */
export const TARGET_SET_RENEWAL_MS = 24 * 60 * 60 * 1000;

export interface QueueStore {
  /** The queue at version 1 with its first event. `exists` where the branch has a queue; nothing is written then. */
  create(queue: QueueRow, event: EventRow): Promise<'created' | 'exists'>;
  find(repositoryId: RepositoryId, branch: string): Promise<QueueRow | undefined>;
  /** Ordered by branch. */
  listByRepository(repositoryId: RepositoryId): Promise<readonly QueueRow[]>;
  /** Removed from every answer; refused as `stale` where the version moved. Its history stays in the store. */
  delete(queueId: QueueId, expectedVersion: number, at: Instant): Promise<'deleted' | 'stale'>;
  /** Undefined where there is no such queue, or it was deleted. */
  load(queueId: QueueId): Promise<QueueSnapshot | undefined>;
  /** The rows whose version is greater than `version`. */
  loadSince(queueId: QueueId, version: number): Promise<QueueSnapshot | undefined>;
  findVersion(queueId: QueueId): Promise<number | undefined>;
  /** `stale` (nothing written) where the stored version is not the expected one, or the queue is gone. */
  commit(commit: QueueCommit): Promise<'committed' | 'stale'>;
  findEntry(queueId: QueueId, prNumber: number): Promise<EntryRow | undefined>;
  findEntries(queueId: QueueId, prNumbers: readonly number[]): Promise<readonly EntryRow[]>;
  listEntries(filter: EntryFilter): Promise<readonly EntryRow[]>;
  /**
   * Removes the target sets that no entry and no upload names, and no commit has given since before `before`; answers
   * how many. Events name sets only by digest, so `before` must lie as far back as events are still replayed, and more
   * than a day: sets are renewed once a day, and a commit under way relies on what it gave.
   */
  removeUnusedTargetSets(before: Instant): Promise<number>;
  findTargetSet(digest: string): Promise<TargetSetRow | undefined>;
  findImpactedTargets(queueId: QueueId, prNumber: number, sha: string): Promise<ImpactedTargetsRow | undefined>;
  /** An entry's whole timeline, newest first. */
  listTransitions(entryId: string): Promise<readonly TransitionRow[]>;
  /** Everything that happened in these queues within the window, oldest first; bodies included. */
  listTransitionsWithin(window: TransitionWindow): Promise<readonly TransitionRow[]>;
  /** The transitions out of a state within the window (both ends inclusive), newest first, and how many there are. */
  listDepartures(query: DepartureQuery): Promise<{ readonly rows: readonly TransitionRow[]; readonly total: number }>;
  /** Oldest first, from the version after `afterVersion`. */
  listEvents(queueId: QueueId, afterVersion: number, limit: number): Promise<readonly EventRow[]>;
  findCandidate(queueId: QueueId, number: number): Promise<CandidateRow | undefined>;
  /** By the API's testRunId, in any queue. */
  findCandidateById(id: string): Promise<CandidateRow | undefined>;
  /** The newest candidate of these queues whose commit is `sha`. */
  findCandidateBySha(queueIds: readonly QueueId[], sha: string): Promise<CandidateRow | undefined>;
  /** Effects not done yet, oldest first, parked ones included. */
  listEffects(queueId: QueueId): Promise<readonly StoredEffect[]>;
  /**
   * Takes effects that are due, not parked, not leased, and first of their stream; those that are due longest first.
   * No two claims get the same effect while a lease lasts, also on different servers; nor is one of a deleted queue
   * claimed.
   */
  claimEffects(claim: EffectClaim): Promise<readonly StoredEffect[]>;
  /** `lost` (nothing written) where the effect is done already or the lease is another holder's now. */
  settleEffect(id: string, holder: string, settlement: EffectSettlement): Promise<'settled' | 'lost'>;
  /**
   * Prolongs the leases that are still this holder's, and answers the ids of those effects, in the order given. A lease
   * that ran out is the holder's until another claims the effect.
   */
  renewLeases(holder: string, ids: readonly string[], leaseUntil: Instant): Promise<readonly string[]>;
  /** The earliest instant at which something could be claimed, as things are; undefined where nothing waits. */
  findNextEffectDueAt(): Promise<Instant | undefined>;
  /** Ends every lease, or those of one holder, and answers how many there were: whoever held them is known to be dead. */
  endLeases(holder?: string): Promise<number>;
  /** Makes parked effects of a queue due again, from their first attempt; answers how many. */
  unparkEffects(queueId: QueueId, at: Instant): Promise<number>;
}
