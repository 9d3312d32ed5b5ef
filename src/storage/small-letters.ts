import type { RepositoryRef } from './repositories.ts';

/** A-Z alone, as the databases do it: names on a forge have no other letters. */
export function inSmallLetters({ host, owner, name }: RepositoryRef): RepositoryRef {
  return { host, owner: small(owner), name: small(name) };
}

function small(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
