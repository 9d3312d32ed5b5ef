import { RUN_WIRE_TYPES } from './internal-run.ts';
import { type Cursor, LENGTH, readVarint, VARINT } from './protobuf.ts';

/** Results and reports have no higher field numbers; every run has. */
const HIGHEST_OUTER_FIELD = 3;

/**
 * Tells whether the bytes begin a report, or a single result, which older uploaders wrote. Protobuf does not mark the
 * type, and trying one and then the other needs all bytes at once. But runs are easy to recognize: in a report the
 * first one is two levels down, in a result one.
 */
export function isTestReport(prefix: Buffer): boolean {
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

/**
 * Visits each field with the available part of its content; undefined for a number. Returns false if the bytes are no
 * fields.
 */
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
