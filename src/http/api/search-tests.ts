import { searchTests as search } from '../../app/tests/search-tests.ts';
import { searchTests } from '../../contract/flaky-tests.ts';
import { route } from '../core/route.ts';

export const searchTestsRoute = route(searchTests, ({ app, caller, baseUrl }, body) =>
  search(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    text: body.query,
    limit: body.limit ?? 20,
    baseUrl,
  }),
);
