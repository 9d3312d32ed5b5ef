import type { Instant } from '../lib/clock.ts';
import type { QueueId } from './queues.ts';

/** Something an operator must hear about. */
export interface AlarmRow {
  /** The same for the same cause: it is raised once, whoever finds it and however often. */
  readonly id: string;
  readonly queueId: QueueId;
  readonly code: string;
  readonly text: string;
  readonly at: Instant;
  /** When what it was raised for was over; null while that goes on, or where it has no end. */
  readonly endedAt: Instant | null;
}

/** How far the target's history was compared with what the queue landed. */
export interface AuditMark {
  /** The head up to which every move of the target is accounted for; null while the branch was gone. */
  readonly sha: string | null;
  /** The queue's version up to which landings are accounted for. */
  readonly version: number;
  readonly at: Instant;
}

/** What is said of a queue goes with its repository. Nothing else is asked of it: it may be gone by now. */
export interface AlarmStore {
  /** `known` (nothing written) where one with this id is there. */
  raise(alarm: Omit<AlarmRow, 'endedAt'>): Promise<'raised' | 'known'>;
  /** Ends every open alarm of this code. One that has ended stays as it is. */
  end(alarms: { readonly queueId: QueueId; readonly code: string; readonly at: Instant }): Promise<void>;
  /** Newest first, of these queues, at or after `since`. */
  list(queueIds: readonly QueueId[], since: Instant, limit: number): Promise<readonly AlarmRow[]>;
  /** How many of each code were ever raised in these queues, in any order. */
  count(
    queueIds: readonly QueueId[],
  ): Promise<readonly { readonly queueId: QueueId; readonly code: string; readonly count: number }[]>;
  findMark(queueId: QueueId): Promise<AuditMark | undefined>;
  /** `stale` (nothing written) where the stored mark is not at `expectedVersion` (undefined: where there is one). */
  setMark(queueId: QueueId, mark: AuditMark, expectedVersion: number | undefined): Promise<'set' | 'stale'>;
}
