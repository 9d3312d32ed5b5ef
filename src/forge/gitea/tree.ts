import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import { hashOf, type TreeEntry } from '../hosted/tree-hash.ts';
import type { GiteaClient } from './api/client.ts';

interface TreeData {
  readonly tree: readonly TreeEntry[] | null;
  readonly truncated?: boolean;
}

/** Undefined when the commit is gone, or the folder is too large for one answer. */
export async function readTree(client: GiteaClient, repository: ForgeRepository, sha: Sha): Promise<Sha | undefined> {
  const path = `/git/trees/${sha}`;
  const { status, data } = await client.request<TreeData>({ repository, path, accept: [400, 404] });
  return status !== 200 || data.truncated === true || data.tree === null ? undefined : hashOf(data.tree);
}
