import type { Instant } from '../lib/clock.ts';

export interface WorkClaim {
  /** Only this holder can settle what it claimed. */
  readonly holder: string;
  readonly now: Instant;
  /** No other holder may claim it before. A holder that dies loses it then. */
  readonly leaseUntil: Instant;
  readonly limit: number;
}

export type Postponement =
  /** Not due yet: claimed later, without counting as a failed attempt. */
  { readonly kind: 'postpone'; readonly dueAt: Instant };

/** While the lease of an item lasts, no other claim gets it, on any server. Its end is stored by `settle`. */
export interface LeasedWork<Item extends Key, Key, Settlement> {
  /** Claims items that are due and not leased, the longest due first. */
  claim(claim: WorkClaim): Promise<readonly Item[]>;
  /** `lost` (nothing written): it is done already, or another has the lease. `at` is now, where the past is kept. */
  settle(
    item: Key,
    holder: string,
    settlement: Settlement | Postponement,
    at?: Instant,
  ): Promise<'settled' | 'again' | 'lost'>;
  /** Returns those that this holder still has, in order. An expired lease is the holder's until another claims it. */
  renewLeases<Held extends Key>(holder: string, items: readonly Held[], leaseUntil: Instant): Promise<readonly Held[]>;
  /** The earliest instant at which an item could be claimed; undefined if none waits. */
  findNextDueAt(): Promise<Instant | undefined>;
  /** Ends the leases of one holder that is known to be dead, or all leases. Returns how many. */
  endLeases(holder?: string): Promise<number>;
}
