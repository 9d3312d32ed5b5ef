import { isUtf8 } from 'node:buffer';
import { Problem } from './problem.ts';

const MAX_DEPTH = 64;
/** No text of any operation is longer, and patterns need not be tried on one that is. */
const MAX_TEXT_LENGTH = 65_536;
/**
 * No operation looks at more items of a list than one above its limit, which is at most 100,000: lists are cut there,
 * before anybody parses millions of them while everybody else waits.
 */
const MAX_ITEMS = 100_001;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * JSON for strangers. Refuses what JSON.parse would let through in silence: keys that occur twice (which of the two did
 * the sender mean?), `__proto__`, half characters, NUL (PostgreSQL cannot store it), invalid UTF-8, and nesting that no
 * operation has.
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw malformed('The body is empty. Send a JSON object.');
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const { keys, hasEscapes, cuts } = scan(bytes);
  const value = parse(cuts.length === 0 ? bytes : without(bytes, cuts));
  // A key that occurred twice is there once: fewer keys than colons.
  if (countKeys(value) !== keys) throw malformed('The body has an object in which a key occurs twice.');
  // Neither can be in valid UTF-8 and valid JSON but by an escape.
  if (hasEscapes) checkTexts(value);
  return value;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw malformed(`The body is not valid JSON: ${(error as Error).message}.`);
  }
}

interface Scan {
  /** Colons outside strings and cuts. */
  readonly keys: number;
  readonly hasEscapes: boolean;
  /** Where lists go on after their last item that counts. */
  readonly cuts: readonly Cut[];
}

interface Cut {
  readonly start: number;
  readonly end: number;
}

/** Of text that is no JSON it says something, and parsing refuses it. */
function scan(bytes: Buffer): Scan {
  const commas = new Uint32Array(MAX_DEPTH + 2);
  const cuts: Cut[] = [];
  let keys = 0;
  let level = 0;
  let cutLevel = 0;
  let cutStart = 0;
  let hasEscapes = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) {
        if (bytes[at] !== BACKSLASH) continue;
        hasEscapes = true;
        at++;
      }
    } else if (byte === COMMA) {
      const count = (commas[level] as number) + 1;
      commas[level] = count;
      if (count === MAX_ITEMS && cutLevel === 0) {
        cutLevel = level;
        cutStart = at;
      }
    } else if (byte === COLON) keys += cutLevel === 0 ? 1 : 0;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      level++;
      if (level > MAX_DEPTH) throw malformed(`The body is nested more than ${MAX_DEPTH} levels deep.`);
      commas[level] = 0;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (level === cutLevel && cutLevel > 0) {
        cuts.push({ start: cutStart, end: at });
        cutLevel = 0;
      }
      level = Math.max(0, level - 1);
    }
  }
  return { keys, hasEscapes, cuts };
}

function without(bytes: Buffer, cuts: readonly Cut[]): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  for (const { start, end } of cuts) {
    kept.push(bytes.subarray(from, start));
    from = end;
  }
  kept.push(bytes.subarray(from));
  return Buffer.concat(kept);
}

function countKeys(value: unknown): number {
  if (typeof value === 'string') checkLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw malformed('The body has a key "__proto__".');
    checkLength(key);
    count += 1 + countKeys((value as Record<string, unknown>)[key]);
  }
  return count;
}

function checkTexts(value: unknown): void {
  if (typeof value === 'string') checkText(value);
  else if (Array.isArray(value)) value.forEach(checkTexts);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      checkText(key);
      checkTexts(item);
    }
  }
}

function checkText(text: string): void {
  if (!text.isWellFormed()) throw malformed('The body has a text with half of a surrogate pair.');
  if (text.includes('\0')) throw malformed('The body has a text with a NUL character.');
}

function checkLength(text: string): void {
  if (text.length <= MAX_TEXT_LENGTH) return;
  const detail = `The body has a text longer than ${MAX_TEXT_LENGTH} characters.`;
  throw new Problem('VALIDATION_FAILED', detail, [{ path: '', message: 'has a text that is too long' }]);
}

function malformed(detail: string): Problem {
  return new Problem('MALFORMED_JSON', detail);
}
