import { createHash } from 'node:crypto';

/** The digest of a record and of all records before it, whose last digest is given. */
export function chainDigest(record: object, previous: string | null): string {
  return createHash('sha256')
    .update(`${previous ?? ''}\n${canonical(record)}`)
    .digest('hex');
}

/** JSON with sorted keys and without spaces, so that equal records have equal texts in every language. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}
