import type { Encoding } from '../../bundle/decode-body.ts';

/** Enough to skip a byte order mark and the blanks before a first brace. */
const HEAD_BYTES = 256;

/** The file type by its first bytes. Anything unrecognized counts as a report. */
export type Sniffed = Exclude<Encoding, 'identity' | 'br'> | 'zip' | 'json' | 'report';

export interface SniffedSource {
  readonly kind: Sniffed;
  /** All bytes, including those already inspected. */
  readonly source: AsyncIterable<Uint8Array>;
  /** For a caller that does not read the source. */
  readonly close: () => Promise<void>;
}

export async function sniff(source: AsyncIterable<Uint8Array>): Promise<SniffedSource> {
  const iterator = source[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let length = 0;
  while (length < HEAD_BYTES) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    held.push(value);
    length += value.length;
  }
  const head = Buffer.concat(held.map((part) => part.subarray(0, HEAD_BYTES)));
  const close = async () => void (await iterator.return?.());
  return { kind: kindOf(head), source: rejoin(held, iterator), close };
}

async function* rejoin(held: readonly Uint8Array[], iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFinished = false;
  try {
    yield* held;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    isFinished = true;
  } finally {
    if (!isFinished) await iterator.return?.();
  }
}

function kindOf(head: Buffer): Sniffed {
  const [a = -1, b = -1, c = -1, d = -1] = head;
  if (a === 0x1f && b === 0x8b) return 'gzip';
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
  if (a === 0x50 && b === 0x4b && (c === 3 || c === 5) && d === c + 1) return 'zip';
  // RFC 1950: method 8, a window of 32 KiB, and a header that is a multiple of 31.
  if (a === 0x78 && (a * 256 + b) % 31 === 0) return 'deflate';
  return /^\ufeff?\s*\{/.test(head.toString('utf8')) ? 'json' : 'report';
}
