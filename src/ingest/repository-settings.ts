import type { Repository } from '../storage/repositories.ts';
import type { Store } from '../storage/store.ts';
import { currentTestSettings } from '../storage/test-codec.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';

/** The settings that a repository's tests follow, and the previous ones while a change is being applied. */
export type RepositorySettings = StoredTestSettings;

export async function findSettings(store: Store, repository: Repository): Promise<RepositorySettings> {
  return currentTestSettings(repository, await store.testSettings.find(repository.id));
}
