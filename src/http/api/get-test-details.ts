import { getTestDetails as get } from '../../app/get-test-details.ts';
import { getTestDetails } from '../contract/flaky-tests.ts';
import { route } from '../route.ts';

export const getTestDetailsRoute = route(getTestDetails, ({ app, caller, baseUrl }, body) =>
  get(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, testId: body.test_id, baseUrl }),
);
