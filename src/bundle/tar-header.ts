import { Unreadable } from './unreadable.ts';

export const TAR_BLOCK_BYTES = 512;

/** What one block before a file says of it. */
export interface TarHeader {
  readonly path: string;
  readonly size: number;
  /** As tar writes it: `0` a file, `5` a folder, `L` and `x` a longer name for the next one, the rest is not read. */
  readonly type: string;
}

/** Undefined: a block of zeros, which ends an archive. */
export function parseTarHeader(block: Uint8Array): TarHeader | undefined {
  const sum = checksum(block);
  if (sum === CHECKSUM_OF_ZEROS) return undefined;
  if (readNumber(block.subarray(148, 156)) !== sum) {
    throw new Unreadable('DAMAGED', 'It is not a tar archive, or a header in it is damaged.');
  }
  const size = readNumber(block.subarray(124, 136));
  if (size === undefined) throw new Unreadable('DAMAGED', 'A file in the archive has an impossible size.');
  const type = String.fromCharCode(block[156] || 0x30);
  const name = readText(block.subarray(0, 100));
  // Only POSIX archives have a prefix; GNU keeps times there.
  const isPosix = readText(block.subarray(257, 263)) === 'ustar' && block[263] === 0x30;
  const prefix = isPosix ? readText(block.subarray(345, 500)) : '';
  return { path: prefix === '' ? name : `${prefix}/${name}`, size, type };
}

/** The `path` and `size` of a PAX header, whose records are `<length> <key>=<value>\n`. The last one of a key counts. */
export function parsePax(bytes: Uint8Array): { readonly path?: string; readonly size?: number } {
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

/** Text ends at the first zero. */
export function readText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Octal digits, or, when the first bit is set, a number in base 256. */
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

/** The sum of all bytes, with the sum's own field taken as blanks. */
function checksum(block: Uint8Array): number {
  let sum = CHECKSUM_OF_ZEROS;
  for (let i = 0; i < 148; i += 1) sum += block[i] as number;
  for (let i = 156; i < TAR_BLOCK_BYTES; i += 1) sum += block[i] as number;
  return sum;
}
