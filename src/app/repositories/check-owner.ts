import type { OrganizationId } from '../../storage/accounts.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';

/**
 * All organizations of a server reach a forge with the same permissions. So the first organization with a queue on an
 * owner's repository reserves that owner; only the operator may let another one in. Undefined: the caller may.
 */
// SPEC G71
export async function checkOwner(
  app: App,
  caller: Caller,
  { host, owner }: RepositoryRef,
): Promise<Refusal | undefined> {
  if (app.forges.get(host)?.hosting === undefined || hasScope(caller, 'instance')) return undefined;
  return (await hasOthers(app, caller.organization.id, { host, owner })) ? taken(host, owner) : undefined;
}

/** Whether another organization has queues on repositories of this owner. */
export async function hasOthers(
  app: App,
  organizationId: OrganizationId,
  { host, owner }: Pick<RepositoryRef, 'host' | 'owner'>,
): Promise<boolean> {
  for (const repository of await app.directory.findRepositoriesAt({ host, owner, name: '*' })) {
    if (repository.organizationId === organizationId) continue;
    // An upload of test results also makes a repository, but reserves nothing.
    if ((await app.directory.listQueueIds(repository.id)).length > 0) return true;
  }
  return false;
}

function taken(host: string, owner: string): Refusal {
  return refuse(
    'INSUFFICIENT_SCOPE',
    `Another organization of this server has queues on repositories of ${host}/${owner}. To share them, use a token with the scope "instance".`,
  );
}
