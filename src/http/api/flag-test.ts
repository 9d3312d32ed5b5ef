import { flagTest as flag } from '../../app/tests/flag-test.ts';
import { flagTest } from '../../contract/test-acts.ts';
import { route } from '../core/route.ts';

export const flagTestRoute = route(flagTest, ({ app, caller, baseUrl }, body) =>
  flag(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    testId: body.test_id,
    isFlagged: body.flagged,
    reason: body.reason ?? null,
    baseUrl,
  }),
);
