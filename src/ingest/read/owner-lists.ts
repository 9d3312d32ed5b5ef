import { type CodeOwners, type CodeOwnersGrammar, parseCodeOwners } from '../../flaky/identity/code-owners.ts';
import { ownText } from './storable-text.ts';

const MAX_OWNERS = 50;
const MAX_OWNER_LENGTH = 200;
/** One repository has few lists; beyond the limit each test gets a list of its own. */
const MAX_INTERNED = 10_000;
const NO_OWNERS: readonly string[] = [];

/** Tests of one team share one list in memory: runs are many, teams are few. */
export function createOwnerLists(): (owners: readonly string[]) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (owners) => {
    if (owners.length === 0) return NO_OWNERS;
    const key = owners.join('\n');
    const found = known.get(key);
    if (found !== undefined) return found;
    const list = owners.slice(0, MAX_OWNERS).map((owner) => ownText(owner.slice(0, MAX_OWNER_LENGTH)));
    if (known.size < MAX_INTERNED && key.length < MAX_OWNERS * MAX_OWNER_LENGTH) known.set(key, list);
    return list;
  };
}

/** The folder decides the grammar if it is .github or .gitlab. */
export function parseOwners(text: string, path: string): CodeOwners {
  const folder = /(?:^|[\\/])\.(github|gitlab)[\\/][^\\/]*$/.exec(path)?.[1];
  return parseCodeOwners(text, { grammar: folder as CodeOwnersGrammar | undefined });
}
