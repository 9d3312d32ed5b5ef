import { isUtf8 } from 'node:buffer';
import { Problem } from './problem.ts';

const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
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
  const { keys, depth, hasEscapes } = scan(bytes);
  if (depth > MAX_DEPTH) throw malformed(`The body is nested more than ${MAX_DEPTH} levels deep.`);
  const value = parse(bytes);
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
  /** Colons outside strings. */
  readonly keys: number;
  /** How deep brackets go. */
  readonly depth: number;
  readonly hasEscapes: boolean;
}

/** Of text that is no JSON it says something, and parsing refuses it. */
function scan(bytes: Buffer): Scan {
  let keys = 0;
  let level = 0;
  let depth = 0;
  let isInString = false;
  let hasEscapes = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isInString) {
      if (byte === BACKSLASH) {
        hasEscapes = true;
        at++;
      } else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COLON) keys++;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth = Math.max(depth, ++level);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) level--;
  }
  return { keys, depth, hasEscapes };
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw malformed('The body has a key "__proto__".');
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

function malformed(detail: string): Problem {
  return new Problem('MALFORMED_JSON', detail);
}
