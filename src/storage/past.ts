import type { Instant } from '../lib/clock.ts';
import type { CandidateRow, EntryRow, ImpactedTargetsRow, QueueId, QueueRow, QueueSnapshot } from './queues.ts';
import type { RepositoryId } from './repositories.ts';

/** A commit of a queue. Instants never fall from one version to the next, whatever the clocks of servers say. */
export interface Moment {
  readonly version: number;
  readonly at: Instant;
}

/** A queue as one commit left it. */
export interface PastQueue extends Moment {
  readonly snapshot: QueueSnapshot;
  readonly reading: PastReading;
}

/** The rows that were read with the queue. */
export interface PastReading extends Moment {
  /** The version at which they begin: a row that is not among them has not changed since. */
  readonly begin: number;
  find<Row>(key: string): Row | undefined;
}

export interface PastPlace {
  readonly queueId: QueueId;
  readonly version: number;
  readonly reading: PastReading;
}

export interface MomentQuery {
  readonly queueId: QueueId;
  /** Both inclusive. */
  readonly from?: Instant;
  readonly until?: Instant;
  readonly afterVersion?: number;
  readonly limit: number;
}

/** A queue that stands or stood for a branch. */
export interface StandingQueue extends Pick<QueueRow, 'id' | 'createdAt'> {
  readonly deletedAt: Instant | null;
}

/** Something outside of the rows of a queue that answers show, for the time in which it was so. */
export interface PastFact {
  /** The queue, the repository or the entry that it is about. */
  readonly subject: string;
  readonly key: string;
  /** Inclusive. */
  readonly fromAt: Instant;
  /** Exclusive; FOREVER while it is so. */
  readonly untilAt: Instant;
  readonly body: string;
}

const EFFECT_FACT = 'effect ';
/** The name of a repository, and why it is blocked. Its subject is the repository. */
export const REPOSITORY_FACT = 'repository';
/** A poll of a server that fails. Its subject is a repository or an entry. */
export const OUTAGE_FACT = 'outage';

/** An effect that failed at least once. Its subject is the queue. */
export function keyOfEffect(id: string): string {
  return `${EFFECT_FACT}${id}`;
}

export function isOfEffect({ key }: PastFact): boolean {
  return key.startsWith(EFFECT_FACT);
}

export function keyOfOutage(serverId: string): string {
  return `${OUTAGE_FACT} ${serverId}`;
}

export function isOfOutage({ key }: Pick<PastFact, 'key'>): boolean {
  return key.startsWith(OUTAGE_FACT);
}

/** Of a fact that holds now. */
export const FOREVER = 9_007_199_254_740_991;

export type NewFact = Pick<PastFact, 'subject' | 'key' | 'body'>;

export interface Packing {
  readonly bytes: number;
  readonly before: Instant;
  readonly now: Instant;
}

export interface PastEntries {
  readonly rows: readonly EntryRow[];
  /** Pull requests that had been submitted, and whose row of that time is not kept any more. */
  readonly lost: readonly number[];
}

/** Each commit of a queue stores the rows that it changed. The past is read from them, and nothing is decided again. */
export interface PastStore {
  /** The queue as the newest commit at or before the instant left it; undefined before the first one that is kept. */
  load(queueId: QueueId, at: Instant): Promise<PastQueue | undefined>;
  /** The first moment that is kept. */
  findBegin(queueId: QueueId): Promise<Moment | undefined>;
  /** Ascending. */
  listMoments(query: MomentQuery): Promise<readonly Moment[]>;
  /** Queues of the branch, deleted ones too, the newest first. */
  listStanding(repositoryId: RepositoryId, branch: string): Promise<readonly StandingQueue[]>;
  /** Rows as they were at a version, also of entries and candidates that had ended. */
  findEntries(place: PastPlace, prNumbers: readonly number[]): Promise<PastEntries>;
  findCandidate(place: PastPlace, number: number): Promise<CandidateRow | undefined>;
  findImpactedTargets(place: PastPlace, prNumber: number, sha: string): Promise<ImpactedTargetsRow | undefined>;
  /** Facts that held at the instant; of several with one key, the one that ended first. */
  listFacts(subjects: readonly string[], at: Instant): Promise<readonly PastFact[]>;
  /** Ends what held under these keys, and begins what holds now. */
  changeFacts(subject: string, keys: readonly string[], begun: readonly NewFact[], at: Instant): Promise<void>;
  /** A server that just started knows of no outage. Those of others go on unless they began before `before`. */
  endOutages(serverId: string, of: { readonly at: Instant; readonly before: Instant }): Promise<void>;
  /** With so many bytes of unpacked commits, or some from before `before`, or no begin of the past. */
  listUnpacked(bytes: number, before: Instant): Promise<readonly QueueId[]>;
  /**
   * Compresses the oldest commits of a queue together with the whole queue as it was before them. It waits until there
   * are `bytes` of them and most of the pack would be commits, unless some are from before `before`. A queue without a
   * begin gets one at `now`. Answers how many commits it packed.
   */
  pack(queueId: QueueId, of: Packing): Promise<number>;
  /** `limit` of each; returns how many. A queue's last pack stays: the later past begins with its state. */
  expire(before: Instant, limit: number): Promise<number>;
}
