import { Fault } from '../../lib/fault.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient } from './api/client.ts';
import { keyOf } from './api/installations.ts';
import type { GitAccess } from './git-access.ts';
import { describeNoContents } from './inspect/permissions.ts';

/** Answers a sentence when the repository cannot be used, or undefined when it can. */
// SPEC G7
export async function checkAccess(
  { client, access }: { readonly client: GithubClient; readonly access: GitAccess },
  repository: ForgeRepository,
): Promise<string | undefined> {
  client.forget(repository.owner, repository.name);
  try {
    const { fullName, isArchived, ...found } = await client.resolve(repository);
    // Webhooks carry GitHub's name for the repository. GitHub ignores case.
    if (keyOf(found) !== keyOf(repository)) return `GitHub calls this repository ${fullName}.`;
    if (isArchived) return `The repository ${fullName} is archived: nothing can be merged there.`;
    const problem = await access.findProblem(repository);
    return problem === undefined ? undefined : ((await describeMissing(client, repository)) ?? problem);
  } catch (error) {
    if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') return error.detail;
    throw error;
  }
}

/** Git's error does not name the missing permission. */
async function describeMissing(client: GithubClient, repository: ForgeRepository): Promise<string | undefined> {
  const { isApp, permissions } = await client.installation(repository);
  return isApp ? describeNoContents(permissions) : undefined;
}
