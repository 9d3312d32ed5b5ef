import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { getForge } from '../core/find-queue.ts';
import type { Refusal } from '../core/refusal.ts';
import { checkOwner } from './check-owner.ts';
import { settleIdentity } from './settle-identity.ts';

/**
 * Checks that the caller may use this repository, and returns it. A repository that an upload made is known by name
 * only, and the name may be a former one of another repository: so it is identified at the forge first.
 */
export async function checkPlace(app: App, caller: Caller, repository: Repository): Promise<Repository | Refusal> {
  const { hosting } = getForge(app, repository.host);
  const found = hosting === undefined || repository.forgeId !== null ? undefined : await hosting.identify(repository);
  const taken = await checkOwner(app, caller, { host: repository.host, ...(found ?? repository) });
  if (taken !== undefined) return taken;
  if (hosting === undefined || found === undefined) return repository;
  await settleIdentity(app, hosting, repository, found);
  return (await app.directory.findRepositoryById(repository.id)) ?? repository;
}
