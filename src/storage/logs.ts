import type { Instant } from '../lib/clock.ts';

/** The output of one check of the built-in runner, for one candidate. */
export interface LogKey {
  /** The API's testRunId. */
  readonly candidateId: string;
  readonly check: string;
}

export interface LogPart {
  readonly bytes: Uint8Array;
  /** Of the whole log, as far as it is written. */
  readonly size: number;
}

/** Texts that grow at their end and are read by their offset in bytes, also while they grow. */
export interface LogStore {
  /**
   * Adds bytes at the end; several at once, in the order of the calls. What another server adds at the same time comes
   * before or after, whole. No bytes are not stored. The buffer may be used again as soon as the call returns.
   */
  append(key: LogKey, bytes: Uint8Array, at: Instant): Promise<void>;
  /** At most `limit` bytes from `offset` on (none where it ends before); undefined where nothing was ever written. */
  read(key: LogKey, offset: number, limit: number): Promise<LogPart | undefined>;
  /**
   * Removes whole logs whose last byte was written before; answers how many. Unlike other writes this is no single
   * transaction: where it fails, some may be gone already.
   */
  removeBefore(before: Instant): Promise<number>;
}
