import { Fault } from '../../lib/fault.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient } from './client.ts';
import type { GitAccess } from './git-access.ts';

/** The sentence to show when a repository cannot be used, or undefined when it can. */
export async function checkAccess(
  { client, access }: { readonly client: GithubClient; readonly access: GitAccess },
  repository: ForgeRepository,
): Promise<string | undefined> {
  client.forget(repository.owner, repository.name);
  try {
    const { fullName, isArchived } = await client.resolve(repository);
    // Deliveries come with this name.
    if (fullName !== `${repository.owner}/${repository.name}`) return `GitHub calls this repository ${fullName}.`;
    if (isArchived) return `The repository ${fullName} is archived: nothing can be merged there.`;
    return await access.findProblem(repository);
  } catch (error) {
    if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') return error.detail;
    throw error;
  }
}
