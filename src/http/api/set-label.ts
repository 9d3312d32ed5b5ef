import { setLabel as set } from '../../app/tests/set-label.ts';
import { setLabel } from '../../contract/test-acts.ts';
import { route } from '../core/route.ts';

export const setLabelRoute = route(setLabel, ({ app, caller, baseUrl }, body) =>
  set(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    testId: body.test_id,
    label: body.label,
    isOn: body.on,
    baseUrl,
  }),
);
