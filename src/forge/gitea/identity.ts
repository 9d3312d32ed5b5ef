import type { ForgeRepository } from '../forge.ts';
import type { RepositoryIdentity } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { RepositoryData } from './api/data.ts';

export function identityOf({ id, name, owner }: Pick<RepositoryData, 'id' | 'name' | 'owner'>): RepositoryIdentity {
  return { owner: owner.login, name, forgeId: String(id) };
}

export async function findById(
  client: GiteaClient,
  { forgeId }: ForgeRepository,
): Promise<RepositoryIdentity | undefined> {
  if (forgeId === undefined) return undefined;
  const found = await client.find<RepositoryData>({ path: `/repositories/${encodeURIComponent(forgeId)}` });
  return found && identityOf(found);
}
