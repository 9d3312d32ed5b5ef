import type { LogKey } from '../../storage/logs.ts';
import type { App } from '../core/app.ts';

/** A long log keeps its beginning and its end. */
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
const MAX_TAIL_BYTES = 2 * 1024 * 1024;
/** Output is written when a chunk is full, or after a short time. */
const CHUNK_BYTES = 64 * 1024;
const SOON_MS = 200;

/** Writes the output of a check to the store in few pieces, within the size limits. */
// SPEC R5
export class CheckLog {
  readonly #app: Pick<App, 'store' | 'clock' | 'log'>;
  readonly #key: LogKey;
  #room: number;
  #unwritten: Buffer[] = [];
  #unwrittenBytes = 0;
  readonly #tail = new Tail(MAX_TAIL_BYTES);
  #writing: Promise<void> = Promise.resolve();
  #cancel: (() => void) | undefined;

  /** `size` is the stored size, left from an interrupted attempt. */
  constructor(app: Pick<App, 'store' | 'clock' | 'log'>, key: LogKey, size: number) {
    this.#app = app;
    this.#key = key;
    this.#room = Math.max(0, MAX_HEAD_BYTES - size);
  }

  /** Resolves when more output can be taken. */
  async add(bytes: Buffer): Promise<void> {
    const head = bytes.subarray(0, this.#room);
    this.#room -= head.length;
    if (head.length < bytes.length) this.#tail.add(bytes.subarray(head.length));
    if (head.length === 0) return;
    this.#unwritten.push(head);
    this.#unwrittenBytes += head.length;
    if (this.#unwrittenBytes >= CHUNK_BYTES) await this.#write();
    else this.#cancel ??= this.#app.clock.after(SOON_MS, () => void this.#write());
  }

  /** Resolves when everything and a last line are stored. */
  async end(line: string): Promise<void> {
    const { leftOut, bytes } = this.#tail.take();
    if (leftOut > 0) this.#unwritten.push(Buffer.from(`\n[${leftOut} bytes are left out here]\n`));
    this.#unwritten.push(...bytes, Buffer.from(line));
    await this.#write();
  }

  #write(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const bytes = Buffer.concat(this.#unwritten);
    this.#unwritten = [];
    this.#unwrittenBytes = 0;
    this.#writing = this.#writing.then(() => this.#append(bytes));
    return this.#writing;
  }

  async #append(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    try {
      await this.#app.store.logs.append(this.#key, bytes, this.#app.clock.now());
    } catch (error) {
      // The result of a check counts also without its log.
      this.#app.log.warn({ err: error, ...this.#key }, 'could not store the output of a check');
    }
  }
}

class Tail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #leftOut = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: Buffer): void {
    // A copy, so that the rest of the read buffer can be freed.
    this.#chunks.push(Buffer.from(bytes.subarray(-this.#limit)));
    this.#leftOut += Math.max(0, bytes.length - this.#limit);
    this.#size += Math.min(bytes.length, this.#limit);
    while (this.#size - (this.#chunks[0]?.length ?? 0) >= this.#limit) {
      const dropped = this.#chunks.shift()?.length ?? 0;
      this.#size -= dropped;
      this.#leftOut += dropped;
    }
  }

  take(): { readonly leftOut: number; readonly bytes: readonly Buffer[] } {
    return { leftOut: this.#leftOut, bytes: this.#chunks };
  }
}
