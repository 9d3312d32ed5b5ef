import type { Instant } from '../lib/clock.ts';

/** The output of one check of the built-in runner, for one candidate. */
export interface LogKey {
  /** The API's testRunId. */
  readonly candidateId: string;
  readonly check: string;
}

export interface LogPart {
  readonly bytes: Uint8Array;
  /** Size of the whole log so far. */
  readonly size: number;
}

/** Append-only texts, read by byte offset, also while they grow. */
export interface LogStore {
  /**
   * Appends bytes. Concurrent calls append in the order of the calls. Bytes of another server come before or after,
   * never in between. Empty input stores nothing. The caller may reuse the buffer as soon as the call returns.
   */
  append(key: LogKey, bytes: Uint8Array, at: Instant): Promise<void>;
  /** At most `limit` bytes from `offset` on (none beyond the end); undefined if nothing was ever written. */
  read(key: LogKey, offset: number, limit: number): Promise<LogPart | undefined>;
  /** Whole logs; returns how many. No single transaction: if it fails, some may be gone already. */
  removeBefore(before: Instant): Promise<number>;
}
