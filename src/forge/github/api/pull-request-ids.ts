import type { PrNumber } from '../../../engine/model/pull-request.ts';
import { BoundedCache } from '../../../git/bounded-cache.ts';
import { keyOf } from './installations.ts';
import type { RepositoryName } from './unavailable.ts';

/** Node ids that were read in passing, so that a write needs no extra query. Callers must cope with a missing id. */
export interface PullRequestIds {
  keep(repository: RepositoryName, pr: { readonly number: PrNumber; readonly id: string }): void;
  find(repository: RepositoryName, number: PrNumber): string | undefined;
  /** After a rename, another repository may have the name. */
  forget(owner: string, name?: string): void;
}

const MAX_REPOSITORIES = 200;
const MAX_EACH = 2_000;

export function createPullRequestIds(): PullRequestIds {
  let repositories = new BoundedCache<string, BoundedCache<PrNumber, string>>(MAX_REPOSITORIES);
  return {
    keep(repository, { number, id }) {
      const key = keyOf(repository);
      const ids = repositories.find(key) ?? new BoundedCache<PrNumber, string>(MAX_EACH);
      ids.set(number, id);
      repositories.set(key, ids);
    },
    find: (repository, number) => repositories.find(keyOf(repository))?.find(number),
    forget(owner, name) {
      if (name === undefined) repositories = new BoundedCache(MAX_REPOSITORIES);
      else repositories.delete(keyOf({ owner, name }));
    },
  };
}
