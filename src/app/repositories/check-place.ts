import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { getForge } from '../core/find-queue.ts';
import type { Refusal } from '../core/refusal.ts';
import { checkOwner } from './check-owner.ts';
import { settleIdentity } from './settle-identity.ts';

/**
 * Whether the caller may use this repository, and the repository itself. One that an upload of tests made is whatever its
 * name leads to, which may be a former name of somebody else's: that is found out first.
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
