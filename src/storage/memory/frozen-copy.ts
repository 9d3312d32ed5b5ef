import { assert } from '../../lib/assert.ts';

/**
 * A deep copy that nobody can change, so that what is stored can be handed out as it is. Text is kept as the databases
 * keep it: U+0000 is refused, and half a surrogate pair becomes U+FFFD.
 */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value === 'string') {
    assert(!value.includes('\0'), 'text with the character U+0000 cannot be stored');
    return value.toWellFormed();
  }
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  if (typeof value === 'object' && value !== null) {
    return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)])));
  }
  return value;
}
