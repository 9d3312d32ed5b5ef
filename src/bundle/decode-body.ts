import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { Unreadable } from './unreadable.ts';

export type Encoding = 'identity' | 'gzip' | 'deflate' | 'zstd' | 'br';

export interface DecodeLimits {
  readonly maxBytes: number;
  /** Unpacked bytes per packed byte; applies after `ratioFromBytes` unpacked bytes. */
  readonly maxRatio: number;
  readonly ratioFromBytes: number;
}

/** Reports shrink to a hundredth, or a thousandth if all tests fail alike. A large body beyond that is a bomb. */
export const DECODE_LIMITS: DecodeLimits = {
  maxBytes: 2 * 1024 ** 3,
  maxRatio: 2_000,
  ratioFromBytes: 64 * 1024 ** 2,
};

export interface DecodeNotes {
  /** Called if unread bytes follow the end of the packed data. */
  trailing(): void;
}

const OUTPUT_CHUNK_BYTES = 64 * 1024;
/** 8 MiB: the uploader's level needs 4, and `zstd -19` all of it. A frame may ask for gigabytes. */
const MAX_ZSTD_WINDOW_LOG = 23;
/** Parallel compressors write many frames, but never tiny ones. */
const MAX_FRAMES = 10_000;

type Unpacker = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createZstdDecompress>;

/** Unpacks a stream as it arrives, and holds only a few chunks for any size. */
// SPEC U5
export async function* decodeBody(
  source: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  limits: DecodeLimits = DECODE_LIMITS,
  notes?: DecodeNotes,
): AsyncGenerator<Uint8Array> {
  const sizes = { in: 0, out: 0 };
  for await (const chunk of encoding === 'identity' ? count(source, sizes) : unpack(source, encoding, sizes, notes)) {
    sizes.out += chunk.length;
    checkSizes(sizes, limits);
    yield chunk;
  }
}

interface Sizes {
  in: number;
  out: number;
}

// SPEC U53
function checkSizes(sizes: Sizes, { maxBytes, maxRatio, ratioFromBytes }: DecodeLimits): void {
  if (sizes.out > maxBytes) {
    throw new Unreadable('TOO_BIG', `It unpacks to more than ${maxBytes} bytes.`);
  }
  if (sizes.out > ratioFromBytes && sizes.out > sizes.in * maxRatio) {
    throw new Unreadable('TOO_BIG', `It unpacks to more than ${maxRatio} times its size.`);
  }
}

async function* count(source: AsyncIterable<Uint8Array>, sizes: Sizes): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    sizes.in += chunk.length;
    yield chunk;
  }
}

/** Node stops after one zstd frame, even after a skippable one. This continues with the next, as other readers do. */
async function* unpack(
  source: AsyncIterable<Uint8Array>,
  encoding: Exclude<Encoding, 'identity'>,
  sizes: Sizes,
  notes: DecodeNotes | undefined,
): AsyncGenerator<Uint8Array> {
  const input = createInput(source, sizes);
  try {
    for (let frames = 1; ; frames += 1) {
      if (frames > MAX_FRAMES) throw new Unreadable('TOO_BIG', `It has more than ${MAX_FRAMES} packed parts.`);
      if (!(yield* unpackFrame(input, encoding, frames))) {
        notes?.trailing();
        return;
      }
      const head = await input.peek();
      if (head.length === 0) return;
      if (encoding !== 'zstd' || !isZstdFrame(head)) {
        notes?.trailing();
        return;
      }
    }
  } finally {
    await input.close();
  }
}

/** Returns false if bytes that are no frame follow the last one. */
async function* unpackFrame(
  input: Input,
  encoding: Exclude<Encoding, 'identity'>,
  frames: number,
): AsyncGenerator<Uint8Array, boolean> {
  const unpacker = createUnpacker(encoding);
  const feeding = feed(unpacker, input);
  try {
    for await (const chunk of unpacker) yield chunk as Uint8Array;
    return true;
  } catch (error) {
    // If a frame ends exactly with a chunk, Node itself reads the next chunk as another frame.
    const isFirst = frames === 1 && unpacker.bytesWritten === 0;
    if (!isFirst && isNoFrame(error)) return false;
    throw explain(error, encoding);
  } finally {
    unpacker.destroy();
    await feeding;
  }
}

function createUnpacker(encoding: Exclude<Encoding, 'identity'>): Unpacker {
  const options = { chunkSize: OUTPUT_CHUNK_BYTES };
  if (encoding === 'gzip') return createGunzip(options);
  if (encoding === 'deflate') return createInflate(options);
  if (encoding === 'br') return createBrotliDecompress(options);
  return createZstdDecompress({ ...options, params: { [constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG } });
}

/** Writes one chunk at a time, so that the bytes after a frame are all in the last chunk and can be given back. */
async function feed(unpacker: Unpacker, input: Input): Promise<void> {
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const end = () => {
      isOver = true;
      resolve();
    };
    unpacker.once('end', end).once('close', end).once('error', end);
  });
  let written = 0;
  for (;;) {
    const chunk = await input.next().catch((error: unknown) => {
      unpacker.destroy(new SourceError(error));
    });
    if (chunk === undefined || isOver) {
      if (!isOver) unpacker.end();
      else if (chunk !== undefined) input.giveBack(chunk);
      return;
    }
    written += chunk.length;
    await Promise.race([over, new Promise((resolve) => unpacker.write(chunk, resolve))]);
    const left = Math.min(chunk.length, written - unpacker.bytesWritten);
    if (left > 0) input.giveBack(chunk.subarray(chunk.length - left));
    if (left > 0 || isOver) return;
  }
}

class SourceError extends Error {
  constructor(cause: unknown) {
    super('the source failed', { cause });
  }
}

/** True if the first bytes do not match the format. */
function isNoFrame(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ZSTD_error_prefix_unknown' || message === 'incorrect header check';
}

function explain(error: unknown, encoding: Encoding): unknown {
  if (error instanceof SourceError) return error.cause;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'Z_BUF_ERROR') {
    return new Unreadable('TRUNCATED', 'The packed bytes end too early.', { cause: error });
  }
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    const most = 2 ** (MAX_ZSTD_WINDOW_LOG - 20);
    return new Unreadable('TOO_BIG', `It was packed with a window of more than ${most} MiB.`, { cause: error });
  }
  if (isNoFrame(error)) return new Unreadable('NOT_A_BUNDLE', `It is not packed with ${encoding}.`, { cause: error });
  return new Unreadable('DAMAGED', 'The packed bytes are damaged.', { cause: error });
}

/** The magic numbers of a frame (RFC 8878) and of a skippable one. */
function isZstdFrame(head: Uint8Array): boolean {
  const [a = 0, b, c, d] = head;
  return (
    (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) ||
    ((a & 0xf0) === 0x50 && b === 0x2a && c === 0x4d && d === 0x18)
  );
}

interface Input {
  /** The next chunk, never empty; undefined: the end. */
  next(): Promise<Uint8Array | undefined>;
  giveBack(chunk: Uint8Array): void;
  /** The next four bytes, fewer at the end, without consuming them. */
  peek(): Promise<Uint8Array>;
  close(): Promise<void>;
}

function createInput(source: AsyncIterable<Uint8Array>, sizes: Sizes): Input {
  const iterator = source[Symbol.asyncIterator]();
  let back: Uint8Array = new Uint8Array(0);
  const pull = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true) return undefined;
      sizes.in += value.length;
      if (value.length > 0) return value;
    }
  };
  const next = async () => {
    if (back.length === 0) return pull();
    const chunk = back;
    back = new Uint8Array(0);
    return chunk;
  };
  return {
    next,
    giveBack: (chunk) => {
      back = chunk;
    },
    peek: async () => {
      while (back.length < 4) {
        const more = await pull();
        if (more === undefined) break;
        back = Buffer.concat([back, more]);
      }
      return back.subarray(0, 4);
    },
    close: async () => {
      await iterator.return?.();
    },
  };
}
