import type { PrNumber } from '../../../engine/pull-request.ts';
import { BoundedCache } from '../../../git/bounded-cache.ts';
import { keyOf } from './installations.ts';
import type { RepositoryName } from './unavailable.ts';

/** What was read in passing is remembered, so that writing needs no question; whoever does not find it can do without. */
export interface PullRequestIds {
  keep(repository: RepositoryName, pr: { readonly number: PrNumber; readonly id: string }): void;
  find(repository: RepositoryName, number: PrNumber): string | undefined;
  /** Another repository may have the name by now. */
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
