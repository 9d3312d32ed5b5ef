import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { type BodyBudget, type HeldBody, SMALL_BODY_BYTES } from './body-budget.ts';
import { HttpProblem } from './problem.ts';

/** For every operation and webhook, also after decompression. */
export const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

const ZSTD_WINDOW_LOG = 23;

/** The longest wait for room in the budget. */
const MAX_WAIT_MS = 30_000;

export interface BodyReading {
  readonly timeoutMs: number;
  /** A lower limit. */
  readonly limitBytes?: number;
  readonly budget: BodyBudget;
  readonly owner: string;
  /** Called with each chunk. It refuses the body by throwing. */
  readonly inspect?: (piece: Buffer) => void;
}

export interface ReadBody {
  readonly length: number;
  /** The whole body, once. The copy is made late, so that a waiting body is not in memory twice. */
  take(): Buffer;
  /** The caller must release it. */
  readonly held: HeldBody;
}

type Done = (error: Error | null, body?: ReadBody) => void;

/**
 * The rest of a body that is too large is read and discarded, so that a client that is still sending gets to read the
 * answer. A body that does not arrive in time, or gets no memory in time, is refused too.
 */
// SPEC H3
export function readBody(request: IncomingMessage, reading: BodyReading, done: Done): void {
  const { limitBytes = BODY_LIMIT_BYTES } = reading;
  if (isAnnouncedTooLarge(request, limitBytes)) return done(tooLarge(limitBytes));
  try {
    readFrom(decode(request), request, reading, done);
  } catch (error) {
    done(error as Error);
  }
}

/** The body, if it is small and all of it is here: it needs no timer, and never waits for the budget. */
export function takeArrived(request: IncomingMessage): Buffer | undefined {
  const { readableLength: length, headers } = request;
  const isWhole = length > 0 && headers['content-length'] === String(length);
  if (!isWhole || length > SMALL_BODY_BYTES || encodingOf(request) !== '') return undefined;
  const body = request.read() as Buffer;
  // Node ends the request when it has read to the end of the stream.
  request.resume();
  return body;
}

function readFrom(source: Readable, request: IncomingMessage, reading: BodyReading, done: Done): void {
  const { limitBytes = BODY_LIMIT_BYTES, timeoutMs, budget, owner, inspect } = reading;
  const chunks: Buffer[] = [];
  let length = 0;
  let isOver = false;
  let waiting: NodeJS.Timeout | undefined;
  const held = budget.hold(owner, () => {
    clearTimeout(waiting);
    waiting = undefined;
    source.resume();
  });
  const timer = setTimeout(() => refuse(waiting === undefined ? late() : busy()), timeoutMs);
  /** Returns false if it had ended before. */
  const end = (): boolean => {
    if (isOver) return false;
    isOver = true;
    clearTimeout(timer);
    clearTimeout(waiting);
    return true;
  };
  const refuse = (error: Error): void => {
    if (!end()) return;
    chunks.length = 0;
    held.release();
    if (source !== request) source.destroy();
    request.resume();
    done(error);
  };
  // SPEC H31
  const waitForRoom = (): void => {
    source.pause();
    waiting = setTimeout(() => refuse(busy()), MAX_WAIT_MS);
  };
  const take = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > limitBytes) return refuse(tooLarge(limitBytes));
    try {
      inspect?.(chunk);
    } catch (problem) {
      return refuse(problem as Error);
    }
    chunks.push(chunk);
    const next = held.add(chunk.length);
    if (next === 'give_up') refuse(busy());
    else if (next === 'wait') waitForRoom();
  };
  source.on('data', (chunk: Buffer) => {
    if (!isOver) take(chunk);
  });
  source.on('end', () => {
    if (end()) done(null, { length, take: () => Buffer.concat(chunks.splice(0), length), held });
  });
  source.on('error', refuse);
}

/** Node discards the rest, and would wait for it as long as for the largest upload. */
// SPEC H4
export function endIfUnread(request: IncomingMessage, timeoutMs: number): void {
  // Requests injected by tests have no such field.
  if (request.complete !== false) return;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, timeoutMs);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
}

// SPEC H3
export function isAnnouncedTooLarge(request: IncomingMessage, limitBytes = BODY_LIMIT_BYTES): boolean {
  return Number(request.headers['content-length'] ?? 0) > limitBytes;
}

function late(): HttpProblem {
  return new HttpProblem('REQUEST_TIMEOUT', 'The request did not arrive in time.');
}

/** The returned stream reports errors of both. */
function decode(request: IncomingMessage): Readable {
  const encoding = encodingOf(request);
  if (encoding === '') return request;
  const decoder = createDecoder(encoding);
  let encodedLength = 0;
  request.on('data', (chunk: Buffer) => {
    encodedLength += chunk.length;
    // Compressed bytes may decode to nothing.
    if (encodedLength > BODY_LIMIT_BYTES) decoder.destroy(tooLarge());
  });
  request.on('error', (error) => decoder.destroy(error));
  // A decoder that is destroyed at work may emit one more error.
  decoder.on('error', () => request.unpipe(decoder));
  return request.pipe(decoder);
}

/** Empty: the body comes as it is. */
export function encodingOf({ headers }: { readonly headers: IncomingMessage['headers'] }): string {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === 'identity' ? '' : encoding;
}

function createDecoder(encoding: string): ReturnType<typeof zlib.createGunzip> {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip();
    case 'deflate':
      return zlib.createInflate();
    case 'br':
      return zlib.createBrotliDecompress() as never;
    case 'zstd':
      return zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }) as never;
    default:
      throw new HttpProblem(
        'UNSUPPORTED_MEDIA_TYPE',
        `The content encoding "${encoding.slice(0, 40)}" is not supported. Send the body as it is, or as gzip, deflate, br or zstd.`,
      );
  }
}

export function tooLarge(limitBytes = BODY_LIMIT_BYTES): HttpProblem {
  return limitBytes < BODY_LIMIT_BYTES
    ? new HttpProblem(
        'BODY_TOO_LARGE',
        `Without a token, a body may have ${limitBytes / 1024} KiB. Send "ALL" instead.`,
      )
    : new HttpProblem(
        'BODY_TOO_LARGE',
        'The body is larger than 20 MiB. Where a list of impacted targets is, send "ALL".',
      );
}

function busy(): HttpProblem {
  return new HttpProblem('UNAVAILABLE', 'Too many large bodies are being read at once. Try again in a moment.');
}
