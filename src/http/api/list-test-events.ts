import { listTestEvents as list } from '../../app/tests/list-test-events.ts';
import { listTestEvents } from '../../contract/test-history.ts';
import { pageQuery } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listTestEventsRoute = route(listTestEvents, ({ app, caller }, body) =>
  list(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    testId: body.test_id,
    page: pageQuery(body.page_query),
  }),
);
