import type { App } from '../core/app.ts';
import { type Caller, maySee } from '../core/caller.ts';
import { type RepositoryView, viewRepository } from './repository-view.ts';

export async function listRepositories(
  app: App,
  caller: Caller,
): Promise<{ readonly repositories: readonly RepositoryView[] }> {
  const all = await app.directory.listRepositories(caller.organization.id);
  const seen = all.filter((repository) => maySee(caller, repository));
  return { repositories: seen.map((repository) => viewRepository(app, repository)) };
}
