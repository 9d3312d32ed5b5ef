/** The list of tests as its address tells it. What an address has and no list knows is left out. */
export const SORTS = {
  impact: ['PULL_REQUESTS', 'pull requests hit'],
  failures: ['FAILURES', 'failures'],
  rate: ['FAILURE_RATE', 'failure rate'],
  duration: ['DURATION', 'duration'],
  'last-failure': ['LAST_FAILURE', 'last failure'],
} as const;
export type Sort = keyof typeof SORTS;

export const STATUSES = ['flaky', 'broken', 'healthy'] as const;
type Status = (typeof STATUSES)[number];

export interface ListQuery {
  readonly sort: Sort;
  readonly status: Status | undefined;
  readonly quarantined: 'yes' | 'no' | undefined;
  readonly owner: string;
  readonly text: string;
  readonly page: string;
}

export function parseListQuery(query: URLSearchParams): ListQuery {
  const quarantined = query.get('quarantined');
  return {
    sort: (Object.keys(SORTS) as Sort[]).find((name) => name === query.get('sort')) ?? 'impact',
    status: STATUSES.find((name) => name === query.get('status')),
    quarantined: quarantined === 'yes' || quarantined === 'no' ? quarantined : undefined,
    owner: (query.get('owner') ?? '').trim(),
    text: (query.get('text') ?? '').trim(),
    page: query.get('page') ?? '',
  };
}

export function isNarrowed({ status, quarantined, owner, text }: ListQuery): boolean {
  return status !== undefined || quarantined !== undefined || owner !== '' || text !== '';
}

const PAGE_SIZE = 50;

/** The body that asks the server for the list. */
export function listBodyOf({ sort, status, quarantined, owner, text, page }: ListQuery): object {
  return {
    sort: SORTS[sort][0],
    ...(status === undefined ? {} : { status: status.toUpperCase() }),
    ...(quarantined === undefined ? {} : { quarantined: quarantined === 'yes' }),
    ...(owner === '' ? {} : { owner }),
    ...(text === '' ? {} : { text }),
    page_query: { page_size: PAGE_SIZE, page_token: page },
  };
}

interface Page {
  readonly total_rows: number;
  readonly page_index: number;
}

/** Such as `51–64 of 64`. */
export function rangeOf({ total_rows, page_index }: Page, shown: number, size = PAGE_SIZE): string {
  if (shown === 0) return `0 of ${total_rows}`;
  const first = page_index * size + 1;
  return `${first}–${first + shown - 1} of ${total_rows}`;
}

interface Quarantined {
  readonly review?: string;
  readonly expires_at?: string;
}

const SOON_MS = 7 * 86_400_000;

/** A quarantine that somebody should decide about: it ends soon, or seems to have outlived its reason. */
export function isToReview({ review, expires_at }: Quarantined, now: number): boolean {
  return review !== undefined || (expires_at !== undefined && Date.parse(expires_at) < now + SOON_MS);
}
