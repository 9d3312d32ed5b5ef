import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findRepository, formatRef } from '../core/find-queue.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';

export async function removeRepository(
  app: App,
  caller: Caller,
  input: { readonly repo: RepositoryRef },
): Promise<Record<string, never> | Refusal> {
  const repository = await findRepository(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const outcome = await app.store.repositories.remove(repository.id);
  app.directory.forget();
  if (outcome === 'removed') return {};
  return refuse('REPOSITORY_HAS_QUEUES', `${formatRef(input.repo)} still has queues. Delete them first.`);
}
