import { isUtf8 } from 'node:buffer';

/** A bound against deeply nested input. GitHub's payloads are much flatter. */
const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

export type Payload = Readonly<Record<string, unknown>>;

/**
 * Answers the payload of a signed delivery, or a sentence why it cannot be read. A repository's webhook may be set to
 * send a form.
 */
export function parsePayload(body: Buffer, contentType: string): Payload | string {
  const json = contentType.startsWith('application/x-www-form-urlencoded') ? fromForm(body) : body;
  if (!isUtf8(json)) return 'It is not UTF-8.';
  if (isTooDeep(json)) return `It is nested more than ${MAX_DEPTH} levels deep.`;
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isObject(value) ? value : 'It is not a JSON object.';
  } catch {
    return 'It is not JSON.';
  }
}

function fromForm(body: Buffer): Buffer {
  return Buffer.from(new URLSearchParams(body.toString('utf8')).get('payload') ?? '', 'utf8');
}

function isTooDeep(json: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (CLOSING.has(byte)) depth -= 1;
  }
  return false;
}

export function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows the names down. Undefined when one is missing. */
export function dig(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** Undefined for a text that is longer than any name, ref or id of GitHub, or that a store cannot keep. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = dig(value, ...names);
  const isUsable =
    typeof found === 'string' && found !== '' && found.length <= 1_000 && !found.includes('\0') && found.isWellFormed();
  return isUsable ? found : undefined;
}

export function countAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = dig(value, ...names);
  return typeof found === 'number' && Number.isSafeInteger(found) && found > 0 ? found : undefined;
}
