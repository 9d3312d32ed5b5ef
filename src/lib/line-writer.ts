import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lines are buffered up to this time and length, because a write for each line would cost more than a request. */
const WAIT_MS = 200;
const FULL_LENGTH = 65_536;
/** A reader that stalls must not fill the server's memory. */
const MAX_WAITING_LENGTH = 16_000_000;
const RETRY_MS = 20;

const NOTHING = Buffer.alloc(0);

/**
 * Every write returns at once with as many bytes as the reader accepts, so no write is ever pending. Either the buffer
 * is empty, or a timer will write it. If the reader has closed the descriptor, lines are discarded.
 */
// SPEC H29
export class LineWriter {
  readonly #fd: number;
  #lines: string[] = [];
  #length = 0;
  #dropped = 0;
  /** Taken from the lines, and not yet accepted by the reader. */
  #rest: Buffer = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #isBroken = false;

  constructor(fd: number) {
    this.#fd = openNonBlocking(fd);
  }

  // SPEC H12
  write(line: string, { isUrgent = false }: { readonly isUrgent?: boolean } = {}): void {
    if (this.#isBroken) return;
    if (this.#length > MAX_WAITING_LENGTH) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#length += line.length;
    const isReaderBehind = this.#rest.length > 0;
    if (!isReaderBehind && (isUrgent || this.#length >= FULL_LENGTH)) this.writeOut();
    else this.#timer ??= setTimeout(() => this.writeOut(), WAIT_MS).unref();
  }

  /** Writes as much as the reader accepts now. */
  writeOut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      while (this.#hasMore()) {
        if (this.#rest.length === 0) this.#rest = this.#take();
        this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest));
      }
    } catch (error) {
      this.#isBroken = (error as NodeJS.ErrnoException).code !== 'EAGAIN';
    }
    if (this.#hasMore()) this.#timer = setTimeout(() => this.writeOut(), RETRY_MS).unref();
  }

  /** Resolves when everything so far is written or discarded. */
  async flush(): Promise<void> {
    for (this.writeOut(); this.#hasMore(); this.writeOut()) await sleep(RETRY_MS);
  }

  #hasMore(): boolean {
    return !this.#isBroken && (this.#rest.length > 0 || this.#lines.length > 0);
  }

  #take(): Buffer {
    if (this.#dropped > 0) this.#lines.push(`{"level":"warn","dropped":${this.#dropped},"text":"log lines dropped"}\n`);
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    this.#dropped = 0;
    return Buffer.from(text);
  }
}

/** A descriptor of the same file, pipe or terminal whose writes never block: they may fail with EAGAIN. */
function openNonBlocking(fd: number): number {
  const kind = fstatSync(fd);
  if (kind.isFile()) return fd;
  try {
    // Opened again, because the flag of an inherited descriptor is shared with every other process that has it.
    if (!kind.isSocket()) return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // This system has no /proc, or the pipe or terminal belongs to another user.
  }
  // A socket cannot be opened again. Node sets the flag on a descriptor that it wraps in a stream.
  if (kind.isSocket() || kind.isFIFO()) new Socket({ fd, readable: false, writable: true }).unref();
  return fd;
}
