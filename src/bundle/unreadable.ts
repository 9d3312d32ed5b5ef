/** Why an upload, or the rest of it, cannot be read. */
export type UnreadableCode =
  /** The first bytes are of another format, or of none. */
  | 'NOT_A_BUNDLE'
  /** It ends too early. Everything before is usable. */
  | 'TRUNCATED'
  /** Bytes in the middle are wrong. Everything before is usable. */
  | 'DAMAGED'
  /** It exceeds a limit, or unpacks to too much: nothing of it is used. */
  | 'TOO_BIG'
  /** Names that lead out of the archive, links, devices: nothing of it is used. */
  | 'UNSAFE'
  /** meta.json is missing or incomplete. */
  | 'BAD_META';

/** An error of the source, such as a disk, passes through unchanged: retrying makes sense for that one alone. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly code: UnreadableCode;
  /** A sentence for people. */
  readonly detail: string;

  constructor(code: UnreadableCode, detail: string, options?: { cause?: unknown }) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
  }

  /** True if the parts read before may be used, with an issue that says where reading ended. */
  get isPartlyUsable(): boolean {
    return this.code === 'TRUNCATED' || this.code === 'DAMAGED';
  }
}
