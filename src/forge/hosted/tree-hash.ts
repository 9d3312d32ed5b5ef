import { createHash } from 'node:crypto';
import type { Sha } from '../../lib/sha.ts';

export interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly sha: string;
}

/** Forges do not tell the tree of a commit, so its id is computed of the root folder as git does. */
export function hashOf(entries: readonly TreeEntry[]): Sha {
  const body = Buffer.concat(
    entries
      .toSorted(asGitSorts)
      .flatMap(({ path, mode, sha }) => [Buffer.from(`${mode.replace(/^0+/, '')} ${path}\0`), Buffer.from(sha, 'hex')]),
  );
  const algorithm = entries[0]?.sha.length === 64 ? 'sha256' : 'sha1';
  return createHash(algorithm).update(`tree ${body.length}\0`).update(body).digest('hex') as Sha;
}

/** By bytes, a folder as if its name ended with a slash. */
function asGitSorts(a: TreeEntry, b: TreeEntry): number {
  const key = ({ path, mode }: TreeEntry) => Buffer.from(/^0*40000$/.test(mode) ? `${path}/` : path);
  return Buffer.compare(key(a), key(b));
}
