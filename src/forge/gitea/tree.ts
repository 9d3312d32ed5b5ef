import { createHash } from 'node:crypto';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GiteaClient } from './api/client.ts';

interface TreeData {
  readonly tree: readonly TreeEntry[] | null;
  readonly truncated?: boolean;
}

interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly sha: string;
}

/** Undefined when the commit is gone, or the folder is too large for one answer. */
export async function readTree(client: GiteaClient, repository: ForgeRepository, sha: Sha): Promise<Sha | undefined> {
  const path = `/git/trees/${sha}`;
  const { status, data } = await client.request<TreeData>({ repository, path, accept: [400, 404] });
  return status !== 200 || data.truncated === true || data.tree === null ? undefined : hashOf(data.tree);
}

/** Gitea answers the id of the commit in place of the tree's, so the id is computed as git does. */
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
