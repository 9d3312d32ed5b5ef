import type { Instant } from '../lib/clock.ts';

/** Something a forge told us about, kept until somebody has looked. */
export interface HintRow {
  /** Unique with the host: two that are about the same are one. */
  readonly key: string;
  readonly host: string;
  readonly kind: string;
  /** JSON that only app/hints reads and writes. */
  readonly body: string;
  /** When this body was heard first. */
  readonly receivedAt: Instant;
  /** Not looked at before. */
  readonly dueAt: Instant;
}

export interface StoredHint extends HintRow {
  /** Told of again while somebody looks: grows, and the look that began before does not end it. */
  readonly version: number;
  readonly attempts: number;
}

export type HintKey = Pick<HintRow, 'host' | 'key'>;

export interface HintClaim {
  readonly holder: string;
  readonly now: Instant;
  readonly leaseUntil: Instant;
  readonly limit: number;
}

export type HintSettlement =
  | { readonly kind: 'done' }
  /** Done, and remembered until `until`: told of again by then, nobody looks again. */
  | { readonly kind: 'remember'; readonly until: Instant }
  /**
   * With a body: it takes the place of the one that is there, also where it was ensured meanwhile. Not for what is added,
   * which brings a body of its own.
   */
  | { readonly kind: 'later'; readonly dueAt: Instant; readonly isFailure: boolean; readonly body?: string };

export interface DueHints {
  readonly host: string;
  readonly count: number;
  readonly oldestDueAt: Instant;
}

export interface HintStore {
  /**
   * Keeps hints in one write; success is durable. One that waits already takes the new body, the earlier of both due
   * times, and a new version; one that is remembered stays as it is. Answers how many are to be looked at.
   */
  add(hints: readonly HintRow[]): Promise<number>;
  /** Inserts. One that waits already keeps its body, takes the earlier of both due times, and, while it is leased, a new version. */
  ensure(hint: HintRow): Promise<void>;
  /** Due, not leased, not remembered ones, those that are due longest first. No two claims get the same while a lease lasts. */
  claim(claim: HintClaim): Promise<readonly StoredHint[]>;
  /**
   * `lost` where the lease is another's; `again` (it waits, due at once) where it was told of again since the claim and is
   * neither remembered nor tried again later because it failed: both see to what was told meanwhile.
   */
  settle(
    hint: Pick<StoredHint, 'host' | 'key' | 'version'>,
    holder: string,
    settlement: HintSettlement,
  ): Promise<'settled' | 'again' | 'lost'>;
  /** Of those that are still the holder's. */
  renewLeases(holder: string, hints: readonly HintKey[], leaseUntil: Instant): Promise<void>;
  findNextDueAt(): Promise<Instant | undefined>;
  /** How many were due before an instant, and nobody has looked. */
  countOverdue(before: Instant): Promise<number>;
  /** Those that are due by now, by the host that told of them; leased ones too. */
  countDue(now: Instant): Promise<readonly DueHints[]>;
  /** Removes what was remembered until before `now`; answers how many. */
  tidy(now: Instant): Promise<number>;
  /** Ends the leases of one holder, or all: it is known to be dead. Answers how many. */
  endLeases(holder?: string): Promise<number>;
}
