import { isSame } from './places.ts';
import type { QueuePage, Repo, Route } from './route.ts';

interface PublicRepository {
  readonly organization: string;
  readonly repo: Repo;
}

/** The tabs of a queue that the server would show to a stranger. */
export function isOpenTab(tab: QueuePage | undefined): boolean {
  return tab === undefined || tab === 'health' || tab === 'landings';
}

/** Whether a page needs no session. */
// SPEC A46
export function isOpen(route: Route, repositories: readonly PublicRepository[], isPast: boolean): boolean {
  if (!('org' in route) || isPast) return false;
  const own = repositories.filter(({ organization }) => organization === route.org).map(({ repo }) => repo);
  switch (route.page) {
    case 'home':
      return own.length > 0;
    case 'queue':
      return isOpenTab(route.tab) && own.some((repo) => isSame(repo, route.repo));
    case 'pr':
      return own.some((repo) => isSame(repo, route.repo));
    case 'find':
      return route.what === 'pr' && own.some(({ owner, name }) => `${owner}/${name}` === route.repo);
    default:
      return false;
  }
}
