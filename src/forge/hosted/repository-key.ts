import type { RepositoryName } from '../hosting.ts';

/** Forges ignore case in names. */
export function keyOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase();
}
