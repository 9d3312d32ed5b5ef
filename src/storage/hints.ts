import type { Instant } from '../lib/clock.ts';
import type { LeasedWork, Postponement } from './leased-work.ts';

/** A stored webhook hint, kept until a worker has handled it. */
export interface HintRow {
  /** Unique with the host: two hints about the same thing are one. */
  readonly key: string;
  readonly host: string;
  readonly kind: string;
  /** JSON that only app/forge-events reads and writes. */
  readonly body: string;
  /** When this body first arrived. */
  readonly receivedAt: Instant;
  /** Not handled before. */
  readonly dueAt: Instant;
}

export interface StoredHint extends HintRow {
  /** Grows if the hint arrives again, so that a worker's settlement does not end the newer hint. */
  readonly version: number;
  readonly attempts: number;
}

export type HintKey = Pick<StoredHint, 'host' | 'key' | 'version'>;

export type HintSettlement =
  | { readonly kind: 'done' }
  /** Done, and remembered until `until`: the same hint is ignored until then. */
  | { readonly kind: 'remember'; readonly until: Instant }
  /** A `body` replaces the stored one, even if it was ensured meanwhile, but not if it was added meanwhile. */
  | (Postponement & { readonly body?: string })
  | { readonly kind: 'retry'; readonly dueAt: Instant };

export interface DueHints {
  readonly host: string;
  readonly count: number;
  readonly oldestDueAt: Instant;
}

/**
 * Claims get no remembered hints. A settlement answers `again` (it waits, due at once) if the hint arrived again since
 * the claim. A hint that is remembered, or retried after a failure, never becomes `again`: both cover the new arrival.
 */
export interface HintStore extends LeasedWork<StoredHint, HintKey, HintSettlement> {
  /**
   * Stores hints in one durable write. A waiting hint takes the new body, the earlier due time, and a new version; a
   * remembered one stays as it is. Returns the number of hints to handle.
   */
  add(hints: readonly HintRow[]): Promise<number>;
  /** Inserts. A waiting hint keeps its body, takes the earlier due time, and, while it is leased, a new version. */
  ensure(hint: HintRow): Promise<void>;
  /** How many hints were due before an instant and are not handled. */
  countOverdue(before: Instant): Promise<number>;
  /** Due hints by host, leased ones included. */
  countDue(now: Instant): Promise<readonly DueHints[]>;
  /** Removes hints that were remembered until before `now`; returns how many. */
  tidy(now: Instant): Promise<number>;
}
