import type { Instant } from '../lib/clock.ts';
import type { FeedDraft } from './feed-draft.ts';
import type { QueueId } from './queues.ts';

export interface AlarmRow {
  /** Derived from the cause, so that every server raises an alarm only once. */
  readonly id: string;
  readonly queueId: QueueId;
  readonly code: string;
  readonly text: string;
  readonly at: Instant;
  /** The end of the cause; null while it lasts, or if it has no end. */
  readonly endedAt: Instant | null;
}

/** The progress of the audit, which compares the target branch's history with the queue's landings. */
export interface AuditMark {
  /** The audited head of the target branch; null while the branch was gone. */
  readonly sha: string | null;
  /** The queue's version up to which landings are audited. */
  readonly version: number;
  readonly at: Instant;
}

/** Alarms are removed with their repository. A queue need not exist: it may be deleted by now. */
export interface AlarmStore {
  /** `known` (nothing written) if an alarm with this id exists. */
  raise(alarm: Omit<AlarmRow, 'endedAt'>, feed?: readonly FeedDraft[]): Promise<'raised' | 'known'>;
  /** Ends every open alarm of this code, and returns how many. Without one, no event is stored. */
  end(
    alarms: { readonly queueId: QueueId; readonly code: string; readonly at: Instant },
    feed?: readonly FeedDraft[],
  ): Promise<number>;
  /** Newest first, of these queues, at or after `since`, and not after `until` if it is given. */
  list(queueIds: readonly QueueId[], since: Instant, limit: number, until?: Instant): Promise<readonly AlarmRow[]>;
  /** How many of each code were ever raised in these queues, in any order. */
  count(
    queueIds: readonly QueueId[],
  ): Promise<readonly { readonly queueId: QueueId; readonly code: string; readonly count: number }[]>;
  findMark(queueId: QueueId): Promise<AuditMark | undefined>;
  /** `stale` (nothing written) if the stored mark is not at `expectedVersion` (undefined: if there is one). */
  setMark(queueId: QueueId, mark: AuditMark, expectedVersion: number | undefined): Promise<'set' | 'stale'>;
}
