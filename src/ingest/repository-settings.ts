import type { Repository } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { currentTestSettings } from '../storage/test-codec.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';

/** What tests of a repository follow, and what they followed before where a change is not carried out yet. */
export type RepositorySettings = StoredTestSettings;

export async function findSettings(store: Store, repository: Repository): Promise<RepositorySettings> {
  return currentTestSettings(repository, await store.testSettings.find(repository.id));
}
