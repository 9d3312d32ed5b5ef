import type { RepositoryRef } from '../storage/repositories.ts';
import type { App } from './app.ts';
import { type Caller, hasScope } from './caller.ts';
import { type Refusal, refuse } from './refusal.ts';

/**
 * All organizations of a server reach a forge with the same rights. So whoever has the first queue on a repository has the
 * repositories of its owner; that another organization may use them too, the operator says. Undefined where the caller may.
 */
export async function checkOwner(
  app: App,
  caller: Caller,
  { host, owner }: RepositoryRef,
): Promise<Refusal | undefined> {
  if (app.forges.get(host)?.hosting === undefined || hasScope(caller, 'instance')) return undefined;
  for (const { id, organizationId } of await app.directory.findRepositoriesAt({ host, owner, name: '*' })) {
    if (organizationId === caller.organization.id) continue;
    // Uploads of tests name repositories too, and that gives nobody a right.
    if ((await app.directory.listQueueIds(id)).length > 0) return taken(host, owner);
  }
  return undefined;
}

function taken(host: string, owner: string): Refusal {
  return refuse(
    'INSUFFICIENT_SCOPE',
    `Another organization of this server has queues on repositories of ${host}/${owner}. To share them, use a token with the scope "instance".`,
  );
}
