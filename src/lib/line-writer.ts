import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lines wait at most this long, or for this much to come together: a write for each would cost more than a request. */
const WAIT_MS = 200;
const FULL_LENGTH = 65_536;
/** A reader that does not read must not fill our memory. */
const MAX_WAITING_LENGTH = 16_000_000;
const RETRY_MS = 20;

const NOTHING = Buffer.alloc(0);

/**
 * Writes lines to a file descriptor, in order, many at a time. Every write ends at once with as much as the reader takes,
 * so no write is ever under way: either nothing waits, or a timer runs that will write what does. Where the reader is
 * gone it goes silent; where he is too slow it drops lines, and says so when he is back.
 */
export class LineWriter {
  readonly #fd: number;
  #lines: string[] = [];
  #length = 0;
  #dropped = 0;
  /** Taken from the lines, and not yet by the reader. */
  #rest: Buffer = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #isBroken = false;

  constructor(fd: number) {
    this.#fd = openNonBlocking(fd);
  }

  /** An urgent line is out of the process when this returns, with those before it, if the reader takes them. */
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

  /** As much as the reader takes at once. */
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

  /** Everything so far is written, or never will be. */
  async flush(): Promise<void> {
    for (this.writeOut(); this.#hasMore(); this.writeOut()) await sleep(RETRY_MS);
  }

  #hasMore(): boolean {
    return !this.#isBroken && (this.#rest.length > 0 || this.#lines.length > 0);
  }

  #take(): Buffer {
    if (this.#dropped > 0)
      this.#lines.push(`{"level":"warn","dropped":${this.#dropped},"text":"log lines were lost"}\n`);
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    this.#dropped = 0;
    return Buffer.from(text);
  }
}

/**
 * A descriptor of the same file, pipe, socket or terminal on which a write never waits for the reader: it takes some
 * bytes, or fails with EAGAIN.
 */
function openNonBlocking(fd: number): number {
  const kind = fstatSync(fd);
  if (kind.isFile()) return fd;
  try {
    // Opened anew: the flag of an inherited descriptor belongs to every process that shares it.
    if (!kind.isSocket()) return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // No /proc on this system, or the pipe or terminal belongs to another user.
  }
  // A socket cannot be opened anew. Node sets the flag of what it takes for a stream.
  if (kind.isSocket() || kind.isFIFO()) new Socket({ fd, readable: false, writable: true }).unref();
  return fd;
}
