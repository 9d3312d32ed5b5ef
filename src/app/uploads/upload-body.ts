import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { cutBytes } from '../../lib/text.ts';
import type { Store } from '../../storage/store.ts';
import type { UploadFile } from '../../storage/uploads.ts';

const MAX_PIECE_BYTES = 256 * 1024;
const MIN_PIECE_BYTES = 16 * 1024;
/** The memory for all bodies that arrive at once, besides the minimum for each. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/** A complete body that no upload names yet. */
export interface ReceivedBody {
  readonly bodyId: string;
  readonly files: readonly UploadFile[];
  readonly sizeBytes: number;
  /** A hash of the files' bytes and roles in order, without their names. */
  readonly digest: string;
}

// SPEC U22
export class UploadBodies {
  readonly #deps: { readonly store: Store; readonly clock: Clock };
  #open = 0;

  constructor(deps: { readonly store: Store; readonly clock: Clock }) {
    this.#deps = deps;
  }

  /** Calls `fill` to write a body. If it throws, the body is removed. */
  async receive<T>(
    fill: (body: BodyWriter) => Promise<T>,
  ): Promise<{ readonly filled: T; readonly body: ReceivedBody }> {
    const { store, clock } = this.#deps;
    const writer = new BodyWriter(
      (bodyId, fileNo, bytes) => store.uploadBodies.append(bodyId, fileNo, bytes, clock.now()),
      () => Math.max(MIN_PIECE_BYTES, Math.min(MAX_PIECE_BYTES, Math.floor(BUDGET_BYTES / this.#open))),
    );
    this.#open += 1;
    try {
      const filled = await fill(writer);
      return { filled, body: await writer.finish() };
    } catch (error) {
      await this.discard(writer.bodyId);
      throw error;
    } finally {
      this.#open -= 1;
    }
  }

  /** If even this fails, housekeeping removes bodies that no upload names. */
  async discard(bodyId: string): Promise<void> {
    await this.#deps.store.uploadBodies.remove(bodyId).catch(() => undefined);
  }
}

interface FileKind {
  readonly encoding?: UploadFile['encoding'] | undefined;
  readonly role?: UploadFile['role'] | undefined;
}

type Append = (bodyId: string, fileNo: number, bytes: Uint8Array) => Promise<void>;

/** Writes file after file: `begin`, then `write` until the next one begins. */
export class BodyWriter {
  readonly bodyId: string = randomUUID();
  readonly #append: Append;
  readonly #pieceBytes: () => number;
  readonly #digest = createHash('sha256');
  readonly #files: UploadFile[] = [];
  #file: OpenFile | undefined;

  constructor(append: Append, pieceBytes: () => number) {
    this.#append = append;
    this.#pieceBytes = pieceBytes;
  }

  /** Without an encoding, the first bytes of the file decide. */
  async begin(name: string, { encoding, role }: FileKind = {}): Promise<void> {
    await this.#end();
    const cleaned = cleanName(name, this.#files.length);
    this.#file = {
      name: cleaned,
      encoding,
      role,
      hash: createHash('sha256'),
      waiting: [],
      waitingBytes: 0,
      sizeBytes: 0,
      head: [],
    };
  }

  async write(bytes: Uint8Array): Promise<void> {
    const file = this.#file as OpenFile;
    file.hash.update(bytes);
    file.sizeBytes += bytes.length;
    if (file.head.length < HEAD_BYTES) file.head.push(...bytes.subarray(0, HEAD_BYTES - file.head.length));
    file.waiting.push(bytes);
    file.waitingBytes += bytes.length;
    if (file.waitingBytes >= this.#pieceBytes()) await this.#flush(file);
  }

  async finish(): Promise<ReceivedBody> {
    await this.#end();
    const sizeBytes = this.#files.reduce((total, file) => total + file.sizeBytes, 0);
    return { bodyId: this.bodyId, files: this.#files, sizeBytes, digest: this.#digest.digest('hex') };
  }

  async #end(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    await this.#flush(file);
    this.#digest.update(file.hash.digest()).update(file.role ?? '');
    const { name, encoding = sniffEncoding(file.head), sizeBytes, role } = file;
    this.#files.push({ name, encoding, sizeBytes, ...(role === undefined ? {} : { role }) });
    this.#file = undefined;
  }

  async #flush(file: OpenFile): Promise<void> {
    const bytes = Buffer.concat(file.waiting, file.waitingBytes);
    file.waiting.length = 0;
    file.waitingBytes = 0;
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
      await this.#append(this.bodyId, this.#files.length, bytes.subarray(at, at + MAX_PIECE_BYTES));
    }
  }
}

/** A file without bytes is skipped. */
export async function writeFile(
  writer: BodyWriter,
  name: string,
  of: { readonly encoding: UploadFile['encoding'] | undefined; readonly bytes: AsyncIterable<Uint8Array> },
): Promise<void> {
  let isBegun = false;
  for await (const chunk of of.bytes) {
    if (!isBegun) await writer.begin(name, of);
    isBegun = true;
    await writer.write(chunk);
  }
}

/** A display name without control characters, of limited length. */
function cleanName(name: string, fileNo: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it.
  const shown = cutBytes(name.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd').toWellFormed(), MAX_NAME_BYTES);
  return shown === '' ? `file-${fileNo + 1}` : shown;
}

const MAX_NAME_BYTES = 500;
const HEAD_BYTES = 4;

interface OpenFile {
  readonly name: string;
  readonly encoding: UploadFile['encoding'] | undefined;
  readonly role: UploadFile['role'] | undefined;
  readonly hash: ReturnType<typeof createHash>;
  readonly waiting: Uint8Array[];
  readonly head: number[];
  waitingBytes: number;
  sizeBytes: number;
}

/** Many clients send `report.xml.gz` without a declared encoding, so that the first bytes decide. */
function sniffEncoding([a, b, c, d]: readonly number[]): UploadFile['encoding'] {
  if (a === 0x1f && b === 0x8b) return 'gzip';
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? 'zstd' : 'identity';
}
