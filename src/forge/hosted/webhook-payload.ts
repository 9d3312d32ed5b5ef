import { isUtf8 } from 'node:buffer';
import type { Sha } from '../../lib/sha.ts';

export function shaAt(value: unknown, ...names: readonly string[]): Sha | undefined {
  const sha = textAt(value, ...names);
  return sha !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha) ? (sha as Sha) : undefined;
}

export type Payload = Readonly<Record<string, unknown>>;

/** The payload of a signed delivery, or a sentence why there is none. A webhook may be set to send a form. */
export function parsePayload(body: Buffer, contentType: string): Payload | string {
  const json = contentType.startsWith('application/x-www-form-urlencoded') ? fromForm(body) : body;
  if (!isUtf8(json)) return 'It is not UTF-8.';
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

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows the names down. Undefined when one is missing. */
export function dig(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** Undefined for a text that is longer than any name, ref or id of a forge, or that a store cannot keep. */
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
