/** Failures of the environment. Every adapter converts its own errors into one of these, once. */
export type FaultCode =
  /** The forge or its git repository does not answer, or answers with an error. */
  | 'FORGE_UNAVAILABLE'
  /** The machine's git is missing or too old. */
  | 'GIT_UNSUPPORTED'
  /** The store does not answer. Nothing was written. */
  | 'STORE_UNAVAILABLE'
  /** The store was written by a newer version of Sluice. */
  | 'STORE_TOO_NEW'
  /** Another server already uses this data folder. */
  | 'STORE_LOCKED'
  /** The configuration is invalid. */
  | 'MISCONFIGURED'
  /** The machine cannot run a check now. */
  | 'RUNNER_UNAVAILABLE'
  /** A backup file is not a backup of the store, or already exists at the place to write one. */
  | 'BACKUP_UNUSABLE'
  /** The server stops and accepts no more work. */
  | 'SHUTTING_DOWN'
  /** The queue parked itself, because this step would have broken an invariant. */
  | 'QUEUE_PARKED';

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  /** A sentence for people, free of secrets, stack traces and SQL. */
  readonly detail: string;
  /** The part of a fault that a client may see, if the rest is for the log only. */
  readonly told: string | undefined;

  constructor(code: FaultCode, detail: string, options?: { cause?: unknown; told?: string | undefined }) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
    this.told = options?.told;
  }
}
