import { listQuarantinedTests as list } from '../../app/tests/list-quarantined-tests.ts';
import { listQuarantinedTests } from '../../contract/flaky-tests.ts';
import { pageQuery } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listQuarantinedTestsRoute = route(listQuarantinedTests, ({ app, caller, dialect }, body) =>
  list(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    page: pageQuery(body.page_query),
    hasReview: dialect.hasReviews,
    onlyToReview: dialect.hasReviews && body.only_to_review === true,
  }),
);
