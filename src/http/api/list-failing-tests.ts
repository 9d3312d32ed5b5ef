import { listFailingTests as list } from '../../app/tests/list-failing-tests.ts';
import { listFailingTests } from '../../contract/flaky-tests.ts';
import { instant, pageQuery } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listFailingTestsRoute = route(listFailingTests, ({ app, caller, baseUrl }, body) =>
  list(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    from: instant('/start_time', body.start_time),
    until: instant('/end_time', body.end_time),
    page: pageQuery(body.page_query),
    baseUrl,
  }),
);
