import { isUtf8 } from 'node:buffer';
import { type Cut, type JsonScan, MAX_TEXT_LENGTH, malformed, textTooLong } from './json-scan.ts';

/**
 * Parses untrusted JSON whose bytes were scanned while they arrived. Refuses what JSON.parse silently accepts: repeated
 * keys (the sender's intent is unknown), `__proto__`, lone surrogates, NUL (PostgreSQL cannot store it) and invalid
 * UTF-8.
 */
// SPEC H21
export function parseJson(bytes: Buffer, { keys, hasEscapes, cuts }: JsonScan): unknown {
  if (bytes.length === 0) throw malformed('The body is empty. Send a JSON object.');
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const value = parse(cuts.length === 0 ? bytes : without(bytes, cuts));
  // A repeated key leaves fewer keys than colons.
  if (countKeys(value) !== keys) throw malformed('The body has an object in which a key occurs twice.');
  // In valid UTF-8 and valid JSON, both are possible only by an escape.
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
  if (text.length > MAX_TEXT_LENGTH) throw textTooLong();
}
