import { listTestRuns as list } from '../../app/tests/list-test-runs.ts';
import { upper } from '../../contract/schema.ts';
import { listTestRuns } from '../../contract/test-history.ts';
import { pageQuery } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listTestRunsRoute = route(listTestRuns, ({ app, caller }, body) =>
  list(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    testId: body.test_id,
    page: pageQuery(body.page_query),
    branch: body.branch ?? null,
    conclusion: body.conclusion === undefined ? null : upper(body.conclusion),
    hasFailureText: body.include_failure_text ?? false,
  }),
);
