import type { PageView } from '../../../src/app/core/list-page.ts';

interface PageQuery {
  readonly page_size: number;
  readonly page_token?: string;
}

/** All pages of a list, one after the other. Something may happen `between` two of them. */
export async function readPages<Page extends { readonly page: PageView }>(
  size: number,
  list: (query: PageQuery) => Promise<Page>,
  between: () => Promise<unknown> = async () => undefined,
): Promise<readonly Page[]> {
  const pages = [await list({ page_size: size })];
  for (;;) {
    const token = pages.at(-1)?.page.next_page_token ?? '';
    if (token === '') return pages;
    await between();
    pages.push(await list({ page_size: size, page_token: token }));
  }
}
