/** What the world can do to us. Every adapter turns its own errors into one of these at its edge, once. */
export type FaultCode =
  /** The forge, or the git repository behind it, does not answer or answers with an error. */
  | 'FORGE_UNAVAILABLE'
  /** The machine's git is missing or older than Sluice needs. */
  | 'GIT_UNSUPPORTED'
  /** The store does not answer; nothing was written. */
  | 'STORE_UNAVAILABLE'
  /** The store was written by a newer version of Sluice. */
  | 'STORE_TOO_NEW'
  /** Another server already uses this data folder. */
  | 'STORE_LOCKED'
  /** What the server was told cannot be so. */
  | 'MISCONFIGURED'
  /** The machine cannot run a check now. */
  | 'RUNNER_UNAVAILABLE'
  /** A file that should be a backup of the store is not one, or already exists where one should be written. */
  | 'BACKUP_UNUSABLE'
  /** The server stops and takes no more work. */
  | 'SHUTTING_DOWN'
  /** The queue stopped itself, because doing this would have broken a promise. */
  | 'QUEUE_PARKED';

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  /** A sentence for people, free of secrets, stack traces and SQL. */
  readonly detail: string;
  /** What a client may know of a fault that is otherwise for the log alone. */
  readonly told: string | undefined;

  constructor(code: FaultCode, detail: string, options?: { cause?: unknown; told?: string | undefined }) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
    this.told = options?.told;
  }
}
