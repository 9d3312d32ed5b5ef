import type { ForgeRepository } from '../forge.ts';
import type { RepositoryIdentity } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';
import type { RepositoryName } from './api/unavailable.ts';

/** Answers from the cache of the client. A caller that learned of a rename clears it first. */
export async function identify(client: GithubClient, repository: RepositoryName): Promise<RepositoryIdentity> {
  const { owner, name, id } = await client.resolve(repository);
  return { owner, name, forgeId: String(id) };
}

interface RepositoryData {
  readonly id: number;
  readonly name: string;
  readonly owner: { readonly login: string };
}

/** Uses the installation of the known name: an installation sees all repositories of one owner. */
export async function findById(
  client: GithubClient,
  { owner, name, forgeId }: ForgeRepository,
): Promise<RepositoryIdentity | undefined> {
  if (forgeId === undefined) return undefined;
  const { status, data } = await client.request<RepositoryData>({
    repository: { owner, name },
    route: 'GET /repositories/{id}',
    parameters: { id: forgeId },
    urgency: 'read',
    accept: [404],
    isRepeated: true,
  });
  return status === 404 ? undefined : { owner: data.owner.login, name: data.name, forgeId: String(data.id) };
}
