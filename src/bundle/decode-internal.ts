import type { Issue } from '../flaky/identity/issue.ts';
import { type BazelBuild, decodeBuild, decodeRun, type InternalRun, RUN_WIRE_TYPES } from './internal-run.ts';
import { type Cursor, damaged, fixedLength, LENGTH, MAX_VARINT_BYTES, readVarint, VARINT } from './protobuf.ts';
import { Unreadable } from './unreadable.ts';

// internal.bin is one message that holds all others and may have gigabytes, so it is decoded as it arrives. For the
// outer messages only the remaining bytes are tracked; each run is decoded as soon as it is complete.

export type InternalItem = InternalRun | BazelBuild;

interface InternalOptions {
  /** The entry's name, for issues. */
  readonly file: string;
  readonly onIssue: (issue: Issue) => void;
  /** A larger run is left out. */
  readonly maxRunBytes?: number;
  /** Counts runs and all other fields beside them. */
  readonly maxFields?: number;
}

/** A run has four outputs. The uploader cuts each at 8,000 bytes; other tools may not. */
const MAX_RUN_BYTES = 4 * 1024 ** 2;
/** An empty run has two bytes, so a small bundle could hold a billion of them. */
const MAX_FIELDS = 10_000_000;
/** Enough for the names of the first run, which identify the file's kind. */
const KIND_BYTES = 64 * 1024;

/** Yields the content in portions, one for each chunk that completes an item. */
// SPEC U7
export async function* decodeInternal(
  source: AsyncIterable<Uint8Array>,
  options: InternalOptions,
): AsyncGenerator<readonly InternalItem[]> {
  const decoder = new InternalDecoder(options);
  for await (const chunk of source) {
    const items = decoder.push(chunk);
    if (items.length > 0) yield items;
  }
  const items = decoder.end();
  if (items.length > 0) yield items;
}

/** The message of the next field: the report, or one of its results. */
type Level = 'report' | 'result';

/** A class, because each file has state that changes with every field. */
class InternalDecoder {
  readonly #options: InternalOptions;
  readonly #maxRunBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #level: Level | 'unknown' = 'unknown';
  /** Remaining bytes of the result; infinite if the file is a single result. */
  #resultLeft = 0;
  #skip = 0;
  #fields = 0;

  constructor(options: InternalOptions) {
    this.#options = options;
    this.#maxRunBytes = options.maxRunBytes ?? MAX_RUN_BYTES;
  }

  push(chunk: Uint8Array): InternalItem[] {
    this.#append(chunk);
    return this.#level === 'unknown' && this.#end < KIND_BYTES ? [] : this.#decode();
  }

  end(): InternalItem[] {
    const items = this.#decode();
    const isWithinResult = this.#level === 'result' && Number.isFinite(this.#resultLeft) && this.#resultLeft > 0;
    if (this.#skip > 0 || this.#at < this.#end || isWithinResult) {
      this.#warn('The list of runs ends too early; those before are used.', 'Was the upload cut off?');
    }
    return items;
  }

  #decode(): InternalItem[] {
    if (this.#level === 'unknown') {
      const isReport = isTestReport(this.#buffer.subarray(this.#at, this.#end));
      this.#level = isReport ? 'report' : 'result';
      this.#resultLeft = isReport ? 0 : Number.POSITIVE_INFINITY;
    }
    const items: InternalItem[] = [];
    while (this.#next(items)) {
      // Each call of `#next` consumes one field.
    }
    return items;
  }

  /** Consumes one field, or a part of a skipped one; false: more bytes are needed. */
  #next(items: InternalItem[]): boolean {
    if (this.#skip > 0) this.#skip -= this.#consume(Math.min(this.#skip, this.#end - this.#at));
    if (this.#skip > 0) return false;
    if (this.#level === 'result' && this.#resultLeft === 0) this.#level = 'report';
    const field = this.#peekField();
    if (field === undefined) return false;
    if (this.#level === 'result' && field.size > this.#resultLeft) throw damaged();

    const isLong = field.wireType === LENGTH;
    if (isLong && this.#level === 'report' && field.number === 1) {
      this.#consume(field.size - field.length);
      this.#level = 'result';
      this.#resultLeft = field.length;
      return this.#count();
    }
    const decode = isLong ? this.#decoderOf(field.number) : undefined;
    if (decode === undefined || field.length > this.#maxRunBytes) {
      if (decode !== undefined) this.#warn('A run is too big and is left out.', 'Shorten its output.');
      this.#consume(field.size - field.length);
      this.#skip = field.length;
      return this.#count();
    }
    if (field.size > this.#end - this.#at) return false;
    const from = this.#at + field.size - field.length;
    this.#decodeItem(items, decode, { bytes: this.#buffer, at: from, end: from + field.length });
    this.#consume(field.size);
    return this.#count();
  }

  #count(): true {
    const { maxFields = MAX_FIELDS } = this.#options;
    this.#fields += 1;
    if (this.#fields > maxFields) {
      throw new Unreadable('TOO_BIG', `The list of runs has more than ${maxFields} entries.`);
    }
    return true;
  }

  #decoderOf(number: number): ((cursor: Cursor) => InternalItem) | undefined {
    if (this.#level === 'report') return undefined;
    if (number === 1) return decodeRun;
    return number === 3 ? decodeBuild : undefined;
  }

  // SPEC U54
  #decodeItem(items: InternalItem[], decode: (cursor: Cursor) => InternalItem, cursor: Cursor): void {
    try {
      items.push(decode(cursor));
    } catch (error) {
      // The length of the run is known, so the runs after it are still readable.
      if (!(error instanceof Unreadable)) throw error;
      this.#warn('A run cannot be decoded and is left out.', 'Use a newer uploader.');
    }
  }

  /** The next field: its number, and `length` bytes of content at the end of `size` bytes. */
  #peekField(): { number: number; wireType: number; size: number; length: number } | undefined {
    const held = this.#end - this.#at;
    if (held === 0) return undefined;
    // A tag and a length are two varints; with fewer bytes they may be cut in the middle.
    const head = { bytes: this.#buffer, at: this.#at, end: this.#end };
    if (held < 2 * MAX_VARINT_BYTES && !isWholeHead(this.#buffer, this.#at, this.#end)) return undefined;
    const tag = readVarint(head);
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (number === 0) throw damaged();
    let length = 0;
    if (wireType === VARINT) readVarint(head);
    else length = wireType === LENGTH ? readVarint(head) : fixedLength(wireType);
    if (!Number.isSafeInteger(length)) throw damaged();
    return { number, wireType, size: head.at - this.#at + length, length };
  }

  #consume(count: number): number {
    this.#at += count;
    if (this.#level === 'result') this.#resultLeft -= count;
    return count;
  }

  /** Keeps undecoded bytes in a buffer that doubles, so that the cost of copying stays linear. */
  #append(chunk: Uint8Array): void {
    const held = this.#end - this.#at;
    if (this.#end + chunk.length > this.#buffer.length) {
      const needed = held + chunk.length;
      const target = needed * 2 > this.#buffer.length ? Buffer.allocUnsafe(needed * 2) : this.#buffer;
      this.#buffer.copy(target, 0, this.#at, this.#end);
      this.#buffer = target;
      this.#at = 0;
      this.#end = held;
    }
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  #warn(message: string, hint: string): void {
    this.#options.onIssue({ level: 'error', file: this.#options.file, line: null, message, hint });
  }
}

function isWholeHead(bytes: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at < end && (bytes[at] as number) >= 0x80) at += 1;
  if (at >= end) return false;
  const wireType = (bytes[from] as number) % 8;
  if (wireType !== VARINT && wireType !== LENGTH) return true;
  at += 1;
  while (at < end && (bytes[at] as number) >= 0x80) at += 1;
  return at < end;
}

/** Results and reports have no higher field numbers; every run has. */
const HIGHEST_OUTER_FIELD = 3;

/**
 * Tells whether the bytes begin a report, or a single result, which older uploaders wrote. Protobuf does not mark the
 * type, and trying one and then the other needs all bytes at once. But runs are easy to recognize: in a report the
 * first one is two levels down, in a result one.
 */
function isTestReport(prefix: Buffer): boolean {
  const outer = findFirst({ bytes: prefix, at: 0, end: prefix.length });
  if (outer === undefined) return true;
  const inner = findFirst({ ...outer });
  return (inner !== undefined && isRun(inner)) || !isRun(outer);
}

/** The available content of the first field 1. */
function findFirst(cursor: Cursor): Cursor | undefined {
  let found: Cursor | undefined;
  walk(cursor, (number, inner) => {
    if (number === 1) found = inner;
    return number !== 1;
  });
  return found;
}

function isRun(cursor: Cursor): boolean {
  let highest = 0;
  const fits = walk(cursor, (number, inner) => {
    highest = Math.max(highest, number);
    return RUN_WIRE_TYPES[number] === (inner === undefined ? VARINT : LENGTH);
  });
  return fits && highest > HIGHEST_OUTER_FIELD;
}

/** `inner` is the available part of the content, undefined for a number. False if the bytes are no fields. */
function walk(cursor: Cursor, field: (number: number, inner: Cursor | undefined) => boolean): boolean {
  const { bytes, end } = cursor;
  // Only the end of the prefix may cut a field; a cut elsewhere means that this is no message.
  const isCut = end === bytes.length;
  while (cursor.at < end) {
    const tag = findVarint(cursor);
    if (tag === undefined) return isCut;
    const wireType = tag % 8;
    if (wireType !== VARINT && wireType !== LENGTH) return false;
    const value = findVarint(cursor);
    if (value === undefined || (wireType === LENGTH && cursor.at + value > end && !isCut)) return isCut;
    const inner = wireType === LENGTH ? { bytes, at: cursor.at, end: Math.min(end, cursor.at + value) } : undefined;
    if (!field(Math.floor(tag / 8), inner)) return false;
    if (inner !== undefined) cursor.at = inner.end;
  }
  return true;
}

/** Undefined: the bytes end within it. */
function findVarint(cursor: Cursor): number | undefined {
  let at = cursor.at;
  while (at < cursor.end && (cursor.bytes[at] as number) >= 0x80) at += 1;
  return at < cursor.end && at - cursor.at < 10 ? readVarint(cursor) : undefined;
}
