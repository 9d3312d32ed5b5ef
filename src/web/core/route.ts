/** The addresses of the dashboard. Links are kept in comments, chats and post-mortems, so they never change. */
export interface Repo {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export interface QueuePlace {
  readonly org: string;
  readonly repo: Repo;
  readonly branch: string;
}

export const QUEUE_PAGES = ['health', 'landings', 'simulator', 'settings'] as const;
export type QueuePage = (typeof QUEUE_PAGES)[number];
export const REPO_PAGES = ['tests', 'flakes', 'uploads'] as const;
export type RepoPage = (typeof REPO_PAGES)[number];
export const ORG_PAGES = ['audit', 'setup'] as const;
export type OrgPage = (typeof ORG_PAGES)[number];

export type Route =
  | { readonly page: 'start' }
  | { readonly page: 'login' }
  | { readonly page: 'home'; readonly org: string }
  | { readonly page: 'org'; readonly org: string; readonly tab: OrgPage }
  | { readonly page: 'repo'; readonly org: string; readonly repo: Repo; readonly tab: RepoPage }
  | { readonly page: 'test'; readonly org: string; readonly repo: Repo; readonly testId: string }
  | ({ readonly page: 'queue'; readonly tab?: QueuePage } & QueuePlace)
  | ({ readonly page: 'pr'; readonly prNumber: number } & QueuePlace)
  /** A link of an uploader or an answer, which lacks the host, or the branch. */
  | {
      readonly page: 'find';
      readonly org: string;
      readonly repo: string;
      readonly host?: string;
      readonly what: 'test' | 'pr';
      readonly id: string;
    }
  | { readonly page: 'unknown'; readonly path: string };

/** `-` is neither a host nor a branch, so that pages beside queues begin with it. */
const BESIDE = '-';

export function parseRoute(path: string, search = ''): Route {
  const parts = path.split('/').filter((part) => part !== '');
  const decoded = parts.map(decode);
  if (decoded.includes(undefined)) return { page: 'unknown', path };
  const [org, ...rest] = decoded as string[];
  if (org === undefined) return { page: 'start' };
  if (org === 'login' && rest.length === 0) return { page: 'login' };
  return parseInOrg(org, rest, new URLSearchParams(search)) ?? { page: 'unknown', path };
}

function parseInOrg(org: string, rest: readonly string[], query: URLSearchParams): Route | undefined {
  const [first, second] = rest;
  if (first === undefined || (rest.length === 1 && first === 'settings')) return { page: 'home', org };
  if (first === BESIDE) {
    const tab = ORG_PAGES.find((page) => page === second);
    return rest.length === 2 && tab !== undefined ? { page: 'org', org, tab } : undefined;
  }
  return parseOld(org, rest, query) ?? parseInRepo(org, rest);
}

/** Links that answers and uploaders had before there was a dashboard. */
function parseOld(org: string, rest: readonly string[], query: URLSearchParams): Route | undefined {
  const repo = query.get('repo');
  const host = query.get('host');
  if (repo === null) return undefined;
  const where = { page: 'find', org, repo, ...(host === null ? {} : { host }) } as const;
  const [first, second, third] = rest;
  if (first === 'flaky-tests' && second === 'test' && third !== undefined) return { ...where, what: 'test', id: third };
  if (first === 'pull-requests' && second !== undefined) return { ...where, what: 'pr', id: second };
  if (first === 'flaky-tests' && second === undefined) return { ...where, what: 'test', id: '' };
  return undefined;
}

function parseInRepo(org: string, [host, owner, name, branch, ...rest]: readonly string[]): Route | undefined {
  if (host === undefined || owner === undefined || name === undefined) return undefined;
  const repo = { host, owner, name };
  if (branch === undefined) return { page: 'repo', org, repo, tab: 'tests' };
  const [first, second] = rest;
  if (branch === BESIDE) {
    const tab = REPO_PAGES.find((page) => page === first);
    if (tab === 'tests' && second !== undefined && rest.length === 2)
      return { page: 'test', org, repo, testId: second };
    return tab !== undefined && rest.length === 1 ? { page: 'repo', org, repo, tab } : undefined;
  }
  const place = { org, repo, branch };
  if (first === undefined) return { page: 'queue', ...place };
  if (first === 'pr') {
    const isNumber = rest.length === 2 && /^[1-9][0-9]{0,8}$/.test(second ?? '');
    return isNumber ? { page: 'pr', ...place, prNumber: Number(second) } : undefined;
  }
  const tab = QUEUE_PAGES.find((page) => page === first);
  return tab !== undefined && rest.length === 1 ? { page: 'queue', ...place, tab } : undefined;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export function toPath(route: Exclude<Route, { page: 'unknown' | 'find' }>): string {
  switch (route.page) {
    case 'start':
      return '/';
    case 'login':
      return '/login';
    case 'home':
      return join(route.org);
    case 'org':
      return join(route.org, BESIDE, route.tab);
    case 'repo':
      return join(route.org, ...partsOf(route.repo), BESIDE, route.tab);
    case 'test':
      return join(route.org, ...partsOf(route.repo), BESIDE, 'tests', route.testId);
    case 'queue':
      return join(route.org, ...partsOf(route.repo), route.branch, ...(route.tab === undefined ? [] : [route.tab]));
    case 'pr':
      return join(route.org, ...partsOf(route.repo), route.branch, 'pr', String(route.prNumber));
  }
}

function partsOf({ host, owner, name }: Repo): string[] {
  return [host, owner, name];
}

function join(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
