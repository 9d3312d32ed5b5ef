import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { Problem } from './problem.ts';

/** For every operation and webhook, also after decompression. */
export const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

const ZSTD_WINDOW_LOG = 23;

type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Reads a whole body, as it was before it was compressed for the way. One that is too large is refused by its announced
 * length, or as soon as it is; what still arrives then is read and thrown away, so that a client that is still sending
 * comes to read the answer. One that does not arrive in time is refused too.
 */
export function readBody(request: IncomingMessage, timeoutMs: number, done: Done): void {
  if (isAnnouncedTooLarge(request)) return done(tooLarge());
  let source: Readable;
  try {
    source = decode(request);
  } catch (error) {
    return done(error as Error);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  let isOver = false;
  const timer = setTimeout(() => finish(late()), timeoutMs);
  const finish = (error: Error | null): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (error === null) return done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length));
    chunks.length = 0;
    if (source !== request) source.destroy();
    request.resume();
    done(error);
  };
  source.on('data', (chunk: Buffer) => {
    if (isOver) return;
    length += chunk.length;
    if (length > BODY_LIMIT_BYTES) finish(tooLarge());
    else chunks.push(chunk);
  });
  source.on('end', () => finish(null));
  source.on('error', finish);
}

/**
 * For a request that is answered: Node reads what is left of its body to nowhere, and would wait for it as long as for the
 * largest upload.
 */
export function endIfUnread(request: IncomingMessage, timeoutMs: number): void {
  // Requests that a test makes up have no such field.
  if (request.complete !== false) return;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, timeoutMs);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
}

export function isAnnouncedTooLarge(request: IncomingMessage, limitBytes = BODY_LIMIT_BYTES): boolean {
  return Number(request.headers['content-length'] ?? 0) > limitBytes;
}

function late(): Problem {
  return new Problem('REQUEST_TIMEOUT', 'The request did not arrive in time.');
}

/** Whatever goes wrong with either stream is told by the one that is returned. */
function decode(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return request;
  const decoder = createDecoder(encoding);
  let encodedLength = 0;
  request.on('data', (chunk: Buffer) => {
    encodedLength += chunk.length;
    // Compressed bytes may decode to nothing at all.
    if (encodedLength > BODY_LIMIT_BYTES) decoder.destroy(tooLarge());
  });
  request.on('error', (error) => decoder.destroy(error));
  // Destroyed while something is still being decoded, it may complain once more, to nobody.
  decoder.on('error', () => request.unpipe(decoder));
  return request.pipe(decoder);
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
      throw new Problem(
        'UNSUPPORTED_MEDIA_TYPE',
        `The content encoding "${encoding.slice(0, 40)}" is not supported. Send the body as it is, or as gzip, deflate, br or zstd.`,
      );
  }
}

export function tooLarge(): Problem {
  return new Problem(
    'BODY_TOO_LARGE',
    'The body is larger than 20 MiB. Where a list of impacted targets is, send "ALL".',
  );
}
