import { getTestDetails as get } from '../../app/tests/get-test-details.ts';
import { getTestDetails } from '../../contract/flaky-tests.ts';
import { route } from '../core/route.ts';

export const getTestDetailsRoute = route(getTestDetails, ({ app, caller, baseUrl }, body) =>
  get(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, testId: body.test_id, baseUrl }),
);
