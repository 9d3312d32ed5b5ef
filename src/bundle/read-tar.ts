// An upload needs little of tar: files one after another, in constant memory, never written to disk. The npm package
// tar-stream was measured against it (docs/decisions/0001-parts.md): it counts no headers, and a body left early ends
// the archive.

import { Unreadable } from './unreadable.ts';

export interface TarEntry {
  readonly path: string;
  readonly size: number;
  /** Readable once, before the next entry is requested; unread bytes are skipped. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface TarLimits {
  /** Counts everything, also folders and long names. */
  readonly maxEntries: number;
  /** Per file. */
  readonly maxFileBytes: number;
}

export const TAR_LIMITS: TarLimits = { maxEntries: 10_000, maxFileBytes: 1024 ** 3 };

/** Bounds long names and PAX headers. */
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_PATH_LENGTH = 4_096;

const FILES = new Set(['0', '7']);
const FOLDER = '5';

/** Yields the files of an archive. Folders are skipped; every other type is refused. */
// SPEC U6
export async function* readTar(source: AsyncIterable<Uint8Array>, limits = TAR_LIMITS): AsyncGenerator<TarEntry> {
  const iterator = source[Symbol.asyncIterator]();
  const reader = createByteReader(iterator);
  try {
    for (let count = 0; ; count += 1) {
      if (count > limits.maxEntries) {
        throw new Unreadable('TOO_BIG', `The archive has more than ${limits.maxEntries} entries.`);
      }
      const header = await readHeader(reader);
      if (header === undefined) break;
      checkPath(header.path);
      if (header.size > limits.maxFileBytes) {
        throw new Unreadable('TOO_BIG', `A file in the archive has more than ${limits.maxFileBytes} bytes.`);
      }
      if (header.type === FOLDER) {
        await reader.skip(header.size + padding(header.size));
        continue;
      }
      if (!FILES.has(header.type)) {
        throw new Unreadable('UNSAFE', `“${header.path}” is a link or a device; an upload has only files.`);
      }
      yield* entry(reader, header);
    }
    // The rest is padding. Reading it detects a damaged end.
    while ((await reader.take(Number.POSITIVE_INFINITY)) !== undefined);
  } finally {
    await iterator.return?.();
  }
}

async function* entry(reader: ByteReader, { path, size }: TarHeader): AsyncGenerator<TarEntry> {
  let left = size;
  async function* body(): AsyncGenerator<Uint8Array> {
    while (left > 0) {
      const chunk = await reader.need(left);
      left -= chunk.length;
      yield chunk;
    }
  }
  yield { path, size, body: body() };
  const unread = left;
  left = 0;
  await reader.skip(unread + padding(size));
}

/** The next header, combined with the long name and size that may precede it. */
async function readHeader(reader: ByteReader): Promise<TarHeader | undefined> {
  let path: string | undefined;
  let size: number | undefined;
  for (let before = 0; before < 8; before += 1) {
    const block = await reader.read(TAR_BLOCK_BYTES);
    const header = block === undefined ? undefined : parseTarHeader(block);
    if (block === undefined && before > 0) throw new Unreadable('TRUNCATED', 'The archive ends within a header.');
    if (header === undefined) return undefined;
    if (header.type === 'L') path = readText(await readExtra(reader, header));
    else if (header.type === 'K' || header.type === 'g') await readExtra(reader, header);
    else if (header.type === 'x') ({ path = path, size = size } = parsePax(await readExtra(reader, header)));
    else return { ...header, path: path ?? header.path, size: size ?? header.size };
  }
  throw new Unreadable('DAMAGED', 'A file in the archive has too many headers.');
}

async function readExtra(reader: ByteReader, { size }: TarHeader): Promise<Uint8Array> {
  if (size > MAX_HEADER_BYTES) throw new Unreadable('TOO_BIG', 'A name in the archive is too long.');
  const bytes = await reader.read(size);
  if (bytes === undefined) throw new Unreadable('TRUNCATED', 'The archive ends within a header.');
  await reader.skip(padding(size));
  return bytes;
}

/** Files fill whole blocks. */
function padding(size: number): number {
  return (TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
}

/** No file is written under these names, but only a hostile sender uses such a name. */
// SPEC U6
function checkPath(path: string): void {
  if (path.length > MAX_PATH_LENGTH) throw new Unreadable('TOO_BIG', `The name ${quote(path)} is too long.`);
  if (/^[/\\]|^[a-z]:|\0/i.test(path) || path.split(/[/\\]/).includes('..')) {
    throw new Unreadable('UNSAFE', `The name ${quote(path)} leads out of the archive.`);
  }
}

function quote(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

type ByteReader = ReturnType<typeof createByteReader>;

/** Reads chunks of any size by number of bytes. It holds one chunk, or as many bytes as are requested at once. */
function createByteReader(source: AsyncIterator<Uint8Array>) {
  let rest: Uint8Array = new Uint8Array(0);
  /** At least one byte and at most `max`; undefined: the end. */
  const take = async (max: number): Promise<Uint8Array | undefined> => {
    while (rest.length === 0) {
      const { done, value } = await source.next();
      if (done === true) return undefined;
      rest = value;
    }
    const taken = rest.subarray(0, max);
    rest = rest.subarray(taken.length);
    return taken;
  };
  const need = async (max: number): Promise<Uint8Array> => {
    const taken = await take(max);
    if (taken === undefined) throw new Unreadable('TRUNCATED', 'The archive ends within a file.');
    return taken;
  };
  return {
    take,
    need,
    /** Exactly `count` bytes; undefined: the archive had ended already. */
    read: async (count: number): Promise<Uint8Array | undefined> => {
      const first = count === 0 ? new Uint8Array(0) : await take(count);
      if (first === undefined || first.length === count) return first;
      const whole = new Uint8Array(count);
      whole.set(first);
      for (let at = first.length; at < count; ) {
        const part = await need(count - at);
        whole.set(part, at);
        at += part.length;
      }
      return whole;
    },
    skip: async (count: number): Promise<void> => {
      for (let left = count; left > 0; ) left -= (await need(left)).length;
    },
  };
}

const TAR_BLOCK_BYTES = 512;

interface TarHeader {
  readonly path: string;
  readonly size: number;
  /** The tar type flag: `0` a file, `5` a folder, `L` and `x` a long name for the next one. Others are not read. */
  readonly type: string;
}

/** Undefined: a block of zeros, which ends an archive. */
function parseTarHeader(block: Uint8Array): TarHeader | undefined {
  const sum = checksum(block);
  if (sum === CHECKSUM_OF_ZEROS) return undefined;
  if (readNumber(block.subarray(148, 156)) !== sum) {
    throw new Unreadable('DAMAGED', 'It is not a tar archive, or a header in it is damaged.');
  }
  const size = readNumber(block.subarray(124, 136));
  if (size === undefined) throw new Unreadable('DAMAGED', 'A file in the archive has an impossible size.');
  const type = String.fromCharCode(block[156] || 0x30);
  const name = readText(block.subarray(0, 100));
  // Only POSIX archives have a prefix; GNU stores times there.
  const isPosix = readText(block.subarray(257, 263)) === 'ustar' && block[263] === 0x30;
  const prefix = isPosix ? readText(block.subarray(345, 500)) : '';
  return { path: prefix === '' ? name : `${prefix}/${name}`, size, type };
}

/** The `path` and `size` of a PAX header of records `<length> <key>=<value>\n`. The last one of a key counts. */
function parsePax(bytes: Uint8Array): { readonly path?: string; readonly size?: number } {
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const digits = space < 0 ? '' : readText(bytes.subarray(at, space));
    const length = /^\d{1,7}$/.test(digits) ? Number(digits) : 0;
    if (length === 0 || length <= space - at || at + length > bytes.length) {
      throw new Unreadable('DAMAGED', 'A header in the archive is damaged.');
    }
    const record = decoder.decode(bytes.subarray(space + 1, at + length - 1));
    const equals = record.indexOf('=');
    const value = record.slice(equals + 1);
    if (record.slice(0, equals) === 'path') found.path = value;
    if (record.slice(0, equals) === 'size') found.size = parseSize(value);
    at += length;
  }
  return found;
}

const decoder = new TextDecoder();

function parseSize(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Unreadable('DAMAGED', 'A file in the archive has an impossible size.');
}

function readText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Octal digits, or, if the first bit is set, a number in base 256. */
function readNumber(field: Uint8Array): number | undefined {
  const first = field[0] as number;
  if ((first & 0x80) !== 0) {
    let value = first & 0x7f;
    for (const byte of field.subarray(1)) value = value * 256 + byte;
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const digits = readText(field).trim();
  return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : undefined;
}

/** Eight blanks. */
const CHECKSUM_OF_ZEROS = 8 * 0x20;

/** The sum of all bytes, with the checksum field taken as blanks. */
function checksum(block: Uint8Array): number {
  let sum = CHECKSUM_OF_ZEROS;
  for (let i = 0; i < 148; i += 1) sum += block[i] as number;
  for (let i = 156; i < TAR_BLOCK_BYTES; i += 1) sum += block[i] as number;
  return sum;
}
