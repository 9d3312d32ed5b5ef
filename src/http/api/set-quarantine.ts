import { setQuarantine as set } from '../../app/tests/set-quarantine.ts';
import { upper } from '../../contract/schema.ts';
import { setQuarantine } from '../../contract/test-acts.ts';
import { instant } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const setQuarantineRoute = route(setQuarantine, ({ app, caller, baseUrl }, body) =>
  set(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    testId: body.test_id,
    setting: upper(body.setting),
    reason: body.reason,
    expiresAt: body.expires_at === undefined ? null : instant('/expires_at', body.expires_at),
    baseUrl,
  }),
);
