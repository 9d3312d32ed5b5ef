// The part of protobuf's wire format that internal.bin needs. Fields are passed to a callback one by one, without
// allocating.
import { Unreadable } from './unreadable.ts';

/** A moving position in bytes. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
  readonly end: number;
}

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

export const MAX_VARINT_BYTES = 10;

export function damaged(): Unreadable {
  return new Unreadable('DAMAGED', 'The list of runs (internal.bin) is damaged.');
}

/** A number beyond 2^53 loses digits, and a negative one becomes more than 2^63: callers refuse both by range. */
export function readVarint(cursor: Cursor): number {
  let value = 0;
  let scale = 1;
  for (let i = 0; i < MAX_VARINT_BYTES; i += 1) {
    if (cursor.at >= cursor.end) throw damaged();
    const byte = cursor.bytes[cursor.at] as number;
    cursor.at += 1;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 128;
  }
  throw damaged();
}

/** Calls `field` with the number and the value of each field. Unread values are skipped. */
export function readMessage(cursor: Cursor, field: (number: number, value: FieldValue) => void): void {
  while (cursor.at < cursor.end) {
    const tag = readVarint(cursor);
    const value = readValue(cursor, tag % 8);
    const number = Math.floor(tag / 8);
    if (number === 0) throw damaged();
    field(number, value);
  }
}

/** `number` for a varint; `from` and `to` for bytes. */
export interface FieldValue {
  readonly wireType: number;
  readonly bytes: Buffer;
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

function readValue(cursor: Cursor, wireType: number): FieldValue {
  const { bytes } = cursor;
  if (wireType === VARINT) return { wireType, bytes, number: readVarint(cursor), from: 0, to: 0 };
  const length = wireType === LENGTH ? readVarint(cursor) : fixedLength(wireType);
  const from = cursor.at;
  if (length > cursor.end - from) throw damaged();
  cursor.at = from + length;
  return { wireType, bytes, number: 0, from, to: cursor.at };
}

export function fixedLength(wireType: number): number {
  if (wireType === FIXED64) return 8;
  if (wireType === FIXED32) return 4;
  throw damaged();
}

export function within({ bytes, from, to }: FieldValue): Cursor {
  return { bytes, at: from, end: to };
}

/** A string of the wrong wire type is empty; invalid UTF-8 becomes replacement characters. */
export function textOf({ bytes, from, to }: FieldValue): string {
  return bytes.toString('utf8', from, to);
}

/** Null: not an int32 that is 0 or more. */
export function countOf({ number, wireType }: FieldValue): number | null {
  return wireType === VARINT && number <= 0x7fffffff ? number : null;
}
