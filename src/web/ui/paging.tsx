import { query } from '../core/location.ts';

interface Page {
  readonly next_page_token: string;
  readonly prev_page_token: string;
}

interface Props {
  readonly page: Page;
  /** Which part of how many is shown. */
  readonly range: string;
}

/** Leads to the pages before and after; the address keeps which one is shown. */
export function Paging({ page, range }: Props) {
  const before = page.prev_page_token;
  const after = page.next_page_token;
  const isFirst = (query.value.get('page') ?? '') === '';
  return (
    <nav class="paging" aria-label="Pages of the list">
      <span class="muted">{range}</span>
      {!isFirst && <a href={withPage('')}>First</a>}
      {!isFirst && <a href={withPage(before)}>Previous</a>}
      {after !== '' && <a href={withPage(after)}>Next</a>}
    </nav>
  );
}

function withPage(token: string): string {
  const next = new URLSearchParams(query.value);
  if (token === '') next.delete('page');
  else next.set('page', token);
  return next.size === 0 ? location.pathname : `?${next}`;
}
