/** Why an upload, or the rest of it, cannot be read. */
export type UnreadableCode =
  /** Not what it should be from its first bytes: another format, or none. */
  | 'NOT_A_BUNDLE'
  /** It ends too early. What came before is whole. */
  | 'TRUNCATED'
  /** Bytes in the middle are wrong. What came before is whole. */
  | 'DAMAGED'
  /** More than the limits allow, or small only because it is packed: nothing of it is used. */
  | 'TOO_BIG'
  /** Names that lead out of the archive, links, devices: nothing of it is used. */
  | 'UNSAFE'
  /** meta.json is missing, or does not say what it must. */
  | 'BAD_META';

/**
 * Thrown by everything in this room that reads somebody else's bytes, and the only thing thrown because of them. An error of
 * the source itself, such as a disk, passes through as it is: that one is worth another try, this one never.
 */
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

  /** Whether what was read before may be used, with an issue that says where it ended. */
  get isPartlyUsable(): boolean {
    return this.code === 'TRUNCATED' || this.code === 'DAMAGED';
  }
}
