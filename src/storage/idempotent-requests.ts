import type { Instant } from '../lib/clock.ts';

export interface IdempotentRequest {
  readonly tokenId: string;
  readonly key: string;
  /** Tells the same request from another one with the same key. */
  readonly digest: string;
  readonly startedAt: Instant;
  /** JSON; null while the request is being answered. */
  readonly answer: string | null;
}

export type NewIdempotentRequest = Omit<IdempotentRequest, 'answer'>;

export interface IdempotentRequestStore {
  /** Undefined: stored, and the caller answers. Otherwise the request that has this key, unless that is too old. */
  begin(
    request: NewIdempotentRequest,
    limits: { readonly expiredBefore: Instant; readonly abandonedBefore: Instant },
  ): Promise<IdempotentRequest | undefined>;
  /** Nothing happens unless the stored request is this one: another server may have taken over. */
  finish(request: NewIdempotentRequest, answer: string): Promise<void>;
  /** The request was refused or failed: it may come again as if it never did. */
  release(request: NewIdempotentRequest): Promise<void>;
  /** Removes requests that began earlier; returns how many. */
  tidy(before: Instant): Promise<number>;
}
