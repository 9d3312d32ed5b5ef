import { type TSchema, Type } from 'typebox';
import { EXAMPLE_REPO, Repo } from './common.ts';
import { type Definition, type Operation, operationsOf } from './operation.ts';
import { inputUuid, integer, limitTo, nameText, record, text } from './schema.ts';

/** Shared by the operations on tests: the scope and the paging. */
export const SCOPE_NOT_FOUND = ['ORGANIZATION_NOT_FOUND', 'REPOSITORY_NOT_FOUND'] as const;

export const testScope = { repo: Repo, org_url_slug: nameText(255, "The organization's slug.") };
export const testRef = { ...testScope, test_id: inputUuid('Id of the test case.') };
export const TEST_ERRORS = [...SCOPE_NOT_FOUND, 'TEST_NOT_FOUND'] as const;

export const PageQuery = record('PageQuery', 'Pagination options.', {
  page_size: Type.Optional(limitTo(100, 25, 'Number of items per page.')),
  page_token: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Selects the page to return; empty or absent for the first.' }),
  ),
});

export const Page = record(
  'Page',
  'Where this page is. All pages of a query are as of its first page, whatever arrives meanwhile.',
  {
    total_rows: integer('How many rows the query has.'),
    total_pages: integer('How many pages these make.'),
    next_page_token: text('Token of the next page; empty on the last.'),
    prev_page_token: text('Token of the page before; empty on the first.'),
    last_page_token: text('Token of the last page; empty where there is none.'),
    page_index: integer('Number of this page, from 0.'),
  },
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

const operation = operationsOf('Flaky tests');

/** A POST to `/flaky-tests/<name in kebab case>` unless the definition says otherwise. */
export function testOperation<Body extends TSchema, Reply extends TSchema>(
  name: string,
  definition: Definition<Body, Reply>,
): Operation<Body, Reply> {
  const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return operation(name, { path: `/flaky-tests/${kebab}`, ...definition });
}
