import { listUnhealthyTests as list } from '../../app/tests/list-unhealthy-tests.ts';
import { listUnhealthyTests } from '../../contract/flaky-tests.ts';
import { upper } from '../../contract/schema.ts';
import { pageQuery } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listUnhealthyTestsRoute = route(listUnhealthyTests, ({ app, caller, baseUrl }, body) =>
  list(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    status: upper(body.status),
    page: pageQuery(body.page_query),
    baseUrl,
  }),
);
