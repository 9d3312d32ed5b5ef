import { Type } from 'typebox';
import { EXAMPLE_REPO, Repo } from './common.ts';
import { component, nameText } from './schema.ts';

/** Shared by the operations on tests: the scope and the paging. */
export const SCOPE_NOT_FOUND = ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'] as const;

export const testScope = { repo: Repo, org_url_slug: nameText(255, "The organization's slug.") };

export const PageQuery = component(
  'PageQuery',
  Type.Object(
    {
      page_size: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Number of items per page.' }),
      ),
      page_token: Type.Optional(
        Type.String({ maxLength: 1000, description: 'Selects the page to return; empty or absent for the first.' }),
      ),
    },
    { description: 'Pagination options.' },
  ),
);

export const Page = component(
  'Page',
  Type.Object(
    {
      total_rows: Type.Integer({ description: 'How many rows the query has.' }),
      total_pages: Type.Integer({ description: 'How many pages these make.' }),
      next_page_token: Type.String({ description: 'Token of the next page; empty on the last.' }),
      prev_page_token: Type.String({ description: 'Token of the page before; empty on the first.' }),
      last_page_token: Type.String({ description: 'Token of the last page; empty where there is none.' }),
      page_index: Type.Integer({ description: 'Number of this page, from 0.' }),
    },
    { description: 'Where this page is. All pages of a query are as of its first page, whatever arrives meanwhile.' },
  ),
);

export const EXAMPLE_SCOPE = { repo: EXAMPLE_REPO, org_url_slug: 'default' };
export const EXAMPLE_PAGE = {
  total_rows: 1,
  total_pages: 1,
  next_page_token: '',
  prev_page_token: '',
  last_page_token: 'bGFzdA',
  page_index: 0,
};
