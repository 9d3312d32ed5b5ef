import { write, writeSync } from 'node:fs';

/** Lines wait at most this long, or for this much to come together: a write for each would cost more than a request. */
const WAIT_MS = 200;
const FULL_LENGTH = 65_536;
/** A reader that does not read must not fill our memory. */
const MAX_WAITING_LENGTH = 16_000_000;
const RETRY_MS = 20;

/**
 * Writes lines to a file descriptor, in order, many at a time, while nobody waits for it. Where the reader is gone it
 * goes silent; where he is too slow it drops lines, and says so when he is back.
 */
export class LineWriter {
  readonly #fd: number;
  #lines: string[] = [];
  #length = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isBroken = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#isBroken) return;
    if (this.#length > MAX_WAITING_LENGTH) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#length >= FULL_LENGTH) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), WAIT_MS).unref();
  }

  /** Everything so far is written, or never will be. */
  async flush(): Promise<void> {
    while (!this.#isBroken && (this.#writing !== undefined || this.#lines.length > 0)) {
      this.#start();
      await this.#writing;
    }
  }

  /** For the very end, when nothing can be waited for: as much as the reader takes at once. */
  flushSync(): void {
    if (this.#isBroken || this.#lines.length === 0) return;
    try {
      writeSync(this.#fd, this.#take());
    } catch {
      // The process ends, and there is nobody left to tell.
      this.#isBroken = true;
    }
  }

  #start(): void {
    if (this.#writing !== undefined || this.#lines.length === 0) return;
    this.#writing = this.#writeAll(Buffer.from(this.#take())).finally(() => {
      this.#writing = undefined;
      if (this.#length >= FULL_LENGTH) this.#start();
    });
  }

  #take(): string {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#dropped > 0)
      this.#lines.push(`{"level":"warn","dropped":${this.#dropped},"text":"log lines were lost"}\n`);
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    this.#dropped = 0;
    return text;
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    let rest = bytes;
    while (rest.length > 0 && !this.#isBroken) rest = rest.subarray(await this.#writeSome(rest));
  }

  #writeSome(bytes: Buffer): Promise<number> {
    return new Promise((resolve) => {
      write(this.#fd, bytes, 0, bytes.length, null, (error, written) => {
        if (error === null) return resolve(written);
        if (error.code === 'EAGAIN') return setTimeout(() => resolve(0), RETRY_MS);
        this.#isBroken = true;
        return resolve(0);
      });
    });
  }
}
