import { invalidField } from './problem.ts';

/** Refuses in a query what parseJson refuses in a body: it cannot be stored. */
export function query(given: unknown): unknown {
  for (const [name, value] of Object.entries(given as Record<string, unknown>)) {
    if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) continue;
    throw invalidField(`/${name}`, 'has a NUL character or half of a surrogate pair');
  }
  return given;
}
