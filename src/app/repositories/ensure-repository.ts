import { randomUUID } from 'node:crypto';
import type { Repository, RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { withSmallHost } from '../core/directory.ts';
import { repositoryNotFound } from '../core/find-queue.ts';
import type { Answer } from '../core/refusal.ts';

/** The repository of an upload. Undefined: the first upload will create it. */
export async function findRepositoryForUpload(
  app: App,
  caller: Caller,
  ref: RepositoryRef,
): Answer<Repository | undefined> {
  const known = await app.directory.findRepository(caller.organization.id, ref);
  const isRefused = known === undefined ? caller.repositoryIds !== null : !maySee(caller, known);
  return isRefused ? repositoryNotFound(ref) : known;
}

// SPEC U17
export async function ensureRepository(app: App, caller: Caller, ref: RepositoryRef): Answer<Repository> {
  const known = await findRepositoryForUpload(app, caller, ref);
  if (known !== undefined) return known;
  const at = app.clock.now();
  const made = await app.store.repositories.ensure({
    id: randomUUID() as RepositoryId,
    organizationId: caller.organization.id,
    ...withSmallHost({ host: ref.host, owner: ref.owner, name: ref.name }),
    git: null,
    forgeId: null,
    blockedReason: null,
    checks: [],
    junit: [],
    fileChecks: null,
    trustChecks: false,
    runHooks: false,
    createdAt: at,
    updatedAt: at,
  });
  app.directory.forget();
  return made;
}
